"""Pairs that differ by what computing them in another way, or bad luck, does: none of it has a cause."""

import numpy as np

from tensors import FLOATS, INTEGERS, is_float, numbers, precision, rounded

SHAPES = [(2, 3, 12, 14), (1, 8, 10, 12), (40, 30), (2000,)]


def noises(rng, dtype):
    """(what, actual, golden): each kind once."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    x = numbers(rng, shape, dtype, "normal")
    other = numbers(rng, shape, dtype, "normal")
    yield "another tensor", rounded(other, dtype), rounded(x, dtype)
    some = rng.random(shape) < 0.05
    yield "some elements of another", rounded(np.where(some, other, x), dtype), rounded(x, dtype)
    yield "any order", rounded(rng.permutation(x.ravel()).reshape(shape), dtype), rounded(x, dtype)
    if dtype in FLOATS:
        wide = "float32" if precision(dtype) < 24 else dtype
        size = 2.0 ** -precision(dtype)
        relative = x * (1 + 2 * size * rng.standard_normal(shape))
        yield "relative errors", rounded(relative, dtype), rounded(x, wide)
        yield "errors of one size", rounded(x + 3 * size * np.std(x) * rng.standard_normal(shape), dtype), rounded(x, wide)
        yield "a sum in another order", rounded(summed(rng, shape, dtype, x), dtype), rounded(x, wide)
    if is_float(dtype) and dtype != "float8_e8m0fnu":
        y = rounded(x, dtype)
        small = np.quantile(np.abs(y.astype(np.float64)), 0.2)
        yield "small ones to zero", rounded(np.where(np.abs(y.astype(np.float64)) <= small, 0, y), dtype), y
    if dtype in INTEGERS:
        yield "one up or down", rounded(x + rng.integers(-1, 2, shape), dtype), rounded(x, dtype)
    if is_float(dtype) and dtype != "float8_e8m0fnu":
        yield "quantised", rounded(np.rint(x / np.std(x) * 20) / 20 * np.std(x), dtype), rounded(x, dtype)


def summed(rng, shape, dtype, x):
    """Partial sums that were rounded on the way."""
    part = rng.standard_normal(shape) * np.std(x)
    return rounded(rounded(x - part, dtype).astype(np.float64) + rounded(part, dtype).astype(np.float64), dtype)
