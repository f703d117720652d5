"""Pairs that differ by one cause each: what was done to numbers, written with NumPy only.

A cause has a name as `diff` gives it (or several, where they are the same), the dtypes that it makes sense for, and
`make(rng, dtype, golden_dtype, kind)` -> (actual, golden), arrays or `Stored`. `kinds` are kinds of data."""

import dataclasses
import typing

import numpy as np

from tensors import DTYPES, FLOATS, INTEGERS, KINDS, NAMES, NUMBERS, NUMPY, bits, rounded


@dataclasses.dataclass
class Cause:
    what: str
    names: typing.Tuple[str, ...]
    dtypes: typing.List[str]
    make: typing.Callable
    kinds: typing.List[str]


CAUSES = []
ALL = DTYPES
EIGHT_BITS_UP = [t for t in NUMBERS if bits(t) >= 8]
HAVE_INF = [t for t in FLOATS if t == "float64" or np.isinf(np.array(np.inf).astype(NUMPY[t]).astype(float))]
IMAGES = [(2, 3, 12, 14), (1, 8, 10, 12), (2, 16, 9, 7)]


def cause(what, names, dtypes, kinds=None):
    def add(make):
        CAUSES.append(Cause(what, tuple(names.split()), dtypes, make, kinds or KINDS))
        return make
    return add


def pick(rng, items):
    return items[rng.integers(len(items))]


def zero_like(x):
    """E8M0 has none."""
    return rounded(1.0 if NAMES[x.dtype] == "float8_e8m0fnu" else 0.0, NAMES[x.dtype])


def golden_of(x, dtype, golden_dtype):
    """Numbers before they were rounded; of masks and of integers that are as fine as float32, behind it."""
    if dtype == "bool" or dtype in INTEGERS and bits(dtype) >= 32:
        return rounded(rounded(x, dtype), golden_dtype)
    return rounded(x, golden_dtype)
