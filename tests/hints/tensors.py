"""Tensors of every dtype, by NumPy and ml_dtypes, and the files that hold them."""

import dataclasses
import os
import sys

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))

import btf_writer  # noqa: E402
import elements  # noqa: E402
import layouts  # noqa: E402

DTYPES = [t.name for t in elements.DTYPES]
NUMPY = {name: np.dtype(getattr(ml_dtypes, name, None) or name) for name in DTYPES}
NAMES = {dtype: name for name, dtype in NUMPY.items()}


def bits(name):
    return elements.BY_NAME[name].bits


def is_float(name):
    return elements.BY_NAME[name].is_float


def is_signed(name):
    return elements.BY_NAME[name].kind in ("signed", "float") and name != "float8_e8m0fnu"


def precision(name):
    """Significant bits of a float."""
    return elements.BY_NAME[name].mantissa + 1


FLOATS = [t for t in DTYPES if is_float(t) and t != "float8_e8m0fnu"]
WIDE_FLOATS = [t for t in FLOATS if precision(t) >= 8]
INTEGERS = [t for t in DTYPES if elements.BY_NAME[t].is_integer]
SIGNED = [t for t in DTYPES if is_signed(t)]
NUMBERS = FLOATS + INTEGERS


def limits(name):
    """The smallest and the largest number."""
    if name == "bool":
        return 0.0, 1.0
    info = (ml_dtypes.finfo if is_float(name) else ml_dtypes.iinfo)(NUMPY[name])
    return float(info.min), float(info.max)


def rounded(x, name):
    """The nearest numbers; what is beyond the largest is the largest."""
    x = np.asarray(x, np.float64)
    if name == "bool":
        return x > 0
    low, high = limits(name)
    if is_float(name):
        return np.clip(x, low, high).astype(NUMPY[name])
    if bits(name) == 64:  # doubles are coarser there
        high = 2.0 ** 62
    return np.clip(np.rint(x), low, high).astype(np.int64).astype(NUMPY[name])


def codes(array):
    """The bits of every element."""
    name = NAMES[array.dtype]
    if bits(name) == 4:
        return np.ascontiguousarray(array).view(np.uint8) & 15
    return np.ascontiguousarray(array).view(f"u{bits(name) // 8}")


def of_codes(bits_of, name):
    if bits(name) == 4:
        bits_of = np.where(elements.BY_NAME[name].kind == "signed", (bits_of ^ 8).astype(np.int16) - 8, bits_of)
        return bits_of.astype(np.uint8).view(NUMPY[name])
    return np.ascontiguousarray(bits_of).view(NUMPY[name])


@dataclasses.dataclass
class Stored:
    """An array in a layout, or with the indices of COO."""

    array: np.ndarray
    layout: int = layouts.LINEAR
    rows: list = None
    dims: tuple = None


def record(tensor):
    if isinstance(tensor, np.ndarray):
        tensor = Stored(tensor)
    name = NAMES[tensor.array.dtype]
    dtype = elements.BY_NAME[name]
    dims = list(tensor.dims or tensor.array.shape)
    bits_of = codes(tensor.array).ravel()
    if tensor.rows is not None:
        return btf_writer.sparse(dtype, dims, tensor.rows, bits_of.tolist())
    if tensor.layout != layouts.LINEAR:
        return btf_writer.dense(dtype, tensor.layout, dims, bits_of.tolist())
    if dtype.bits == 4:
        bits_of = np.append(bits_of, np.zeros(bits_of.size % 2, np.uint8))
        bits_of = bits_of[0::2] | bits_of[1::2] << 4
    return btf_writer.header(dims, dtype.code, layouts.LINEAR) + bits_of.tobytes()


def write(path, tensors):
    with open(path, "wb") as file:
        file.write(btf_writer.file([record(t) for t in tensors]))


def scale_of(rng, name):
    """The size of ordinary numbers of a dtype."""
    if not is_float(name):
        return {4: 2.5, 8: 40.0, 16: 3000.0}.get(bits(name), 1e6)
    if precision(name) >= 8:
        return rng.choice([0.02, 1.0, 30.0])
    return {"float4_e2m1fn": 2.0, "float8_e3m4": 3.0}.get(name, 1.0)


KINDS = ["normal", "relu", "smooth", "channels", "sparse"]


def numbers(rng, shape, name, kind):
    """Ordinary numbers before they are rounded to a dtype."""
    x = rng.standard_normal(shape)
    if name == "bool":
        return x
    if name == "float8_e8m0fnu":
        return 2.0 ** np.rint(2 * x)
    scale = scale_of(rng, name)
    if kind == "relu":
        x = np.maximum(x, 0)
    elif kind == "smooth":
        x = np.sin(0.37 * np.arange(x.size)).reshape(shape) + 0.05 * x
    elif kind == "channels":
        x = x * 2.0 ** rng.uniform(-1, 1, [1 if d != max(0, len(shape) - 3) else n for d, n in enumerate(shape)])
    elif kind == "sparse":
        x = np.where(rng.random(shape) < 0.15, x, 0)
    if not is_signed(name):
        x = np.abs(x) if kind in ("relu", "sparse") else np.abs(x + 2.5) * 0.8
    low, high = limits(name)
    x = np.clip(x * scale, max(low, -high) if is_signed(name) else low, high)
    return x if bits(name) > 32 else x.astype(np.float32).astype(np.float64)
