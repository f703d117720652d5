"""Dtypes of the library in NumPy and PyTorch, which are imported only here and only when needed."""

from __future__ import annotations

import sys

from . import _btf

ROWS = {row.name: row for row in _btf.dtypes()}
_PACKED = ("int4", "uint4", "float4_e2m1fn")  # two elements in a byte


def name_of(dtype) -> str | None:
    """The library's name of a dtype: its own names, NumPy's, PyTorch's and ml_dtypes' objects."""
    if dtype is None or isinstance(dtype, str):
        if dtype is not None and dtype.startswith("torch."):
            dtype = dtype[len("torch."):]
        return dtype
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(dtype, torch.dtype):
        return name_of(str(dtype))
    import numpy as np

    return np.dtype(dtype).name


def is_packed(name: str) -> bool:
    return name in _PACKED


_numpy_dtypes = {}


def numpy_dtype(name: str):
    """NumPy's dtype; of types that NumPy lacks that of ml_dtypes, never an integer in its place."""
    known = _numpy_dtypes.get(name)
    if known is None:
        known = _numpy_dtypes[name] = _find_numpy_dtype(name)
    return known


def _find_numpy_dtype(name):
    import numpy as np

    row = ROWS[name]
    if row.numpy is not None:
        return np.dtype("<" + row.numpy)
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"NumPy has no {name}: the package ml_dtypes has it (pip install ml_dtypes); "
            "raw=True gives the codes as unsigned integers") from None
    return np.dtype(getattr(ml_dtypes, name))


def code_dtype(name: str):
    import numpy as np

    return np.dtype(f"<u{max(ROWS[name].bits, 8) // 8}")


def unpacked(codes):
    """Elements of 4 bits out of bytes that hold two each, the first in the low half."""
    import numpy as np

    nibbles = np.empty(codes.size * 2, np.uint8)
    nibbles[0::2] = codes & 15
    nibbles[1::2] = codes >> 4
    return nibbles


def from_nibbles(nibbles, name: str):
    import numpy as np

    dtype = numpy_dtype(name)
    if name == "int4":
        return ((nibbles ^ 8).astype(np.int8) - 8).astype(dtype)
    if name == "uint4":
        return nibbles.astype(dtype)
    return nibbles.view(dtype)
