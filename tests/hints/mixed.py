"""The same faults where what is wrong was also rounded: to a dtype and back into float32, or to int8 codes times a scale."""

import numpy as np

import places  # noqa: F401
import values  # noqa: F401
from causes import CAUSES, cause, pick
from tensors import NUMPY

# Codes that mean other numbers are no codes after rounding, and some causes are rounding themselves.
BITS = ("bytes", "nibbles", "bits of", "bfloat16 or", "integers", "COO", "rounded", "a mask", "numbers at", "Inf against",
        "NaN against")
FUNCTIONS = ("a function", "a softmax", "dequantised")  # of few bits not told from each other
NOISES = ["float16", "bfloat16", "float8_e4m3fn", "int8"]


def kept(x, dtype):
    """What float32 holds of numbers that were rounded on the way; int8 stands for codes times a scale."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        if dtype != "int8":
            return x.astype(NUMPY[dtype]).astype(np.float32)
        scale = np.float32(np.abs(x[np.isfinite(x)]).max() / 127)
        return np.where(np.isfinite(x), np.clip(np.rint(x / scale), -128, 127) * scale, x).astype(np.float32)


def mixed(base):
    noises = [t for t in NOISES if t not in ("float8_e4m3fn", "int8") or not base.what.startswith(FUNCTIONS)]

    def make(rng, dtype, golden_dtype, kind):
        actual, golden = base.make(rng, "float32", "float32", kind)
        return kept(actual, dtype), golden

    names = " ".join(base.names)
    # e4m3fn and e4m3fnuz are a factor of 2 apart.
    cause(base.what + ", rounded", names + (" dtype-misread" if base.what == "scaled" else ""), noises,
          [kind for kind in base.kinds if kind != "sparse"][:2])(make)


def mixes():
    for base in list(CAUSES):
        if "float32" in base.dtypes and not base.what.startswith(BITS + ("bytes taken", "padding")):
            mixed(base)


mixes()


@cause("float16 overflow among rounding", "saturation", ["float16"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    x = rng.standard_normal((4, 50, 40))
    few = rng.permutation(x.size)[:12]
    x.ravel()[few] = rng.uniform(66000, 90000, 12) * pick(rng, [1, -1])
    golden = x.astype(np.float32)
    with np.errstate(over="ignore"):
        held = np.clip(golden, -65504, 65504).astype(np.float16) if rng.random() < 0.5 else golden.astype(np.float16)
    return held if golden_dtype == dtype else held.astype(np.float32), golden


@cause("codes cut off among rounding", "saturation", ["int8"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    golden = rng.standard_normal((4, 50, 40)).astype(np.float32)
    scale = np.float32(2.5 / 127)
    return (np.clip(np.rint(golden / scale), -128, 127) * scale).astype(np.float32), golden


@cause("a zero point that is off by one", "offset", ["int8"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    golden = rng.standard_normal((4, 50, 40)).astype(np.float32)
    scale = np.float32(np.abs(golden).max() / 120)
    return ((np.rint(golden / scale) + 1) * scale).astype(np.float32), golden


@cause("a factor of each channel, codes of each channel", "channel-scale", ["int8"], ["normal"])
def _(rng, dtype, golden_dtype, kind):
    golden = (rng.standard_normal((30, 80)) * rng.uniform(0.2, 3, (30, 1))).astype(np.float32)
    scale = np.abs(golden).max(axis=1, keepdims=True) / 127
    return (np.rint(golden * rng.uniform(0.4, 1, (30, 1)) / scale) * scale).astype(np.float32), golden
