"""Pairs that differ by what computing them in another way, or bad luck, does: none of it has a cause."""

import numpy as np

from tensors import FLOATS, INTEGERS, NUMPY, bits, is_float, numbers, precision, rounded

SHAPES = [(2, 3, 12, 14), (1, 8, 10, 12), (40, 30), (2000,)]


def noises(rng, dtype):
    """(what, actual, golden): each kind once."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    x = numbers(rng, shape, dtype, "normal")
    other = numbers(rng, shape, dtype, "normal")
    yield "another tensor", rounded(other, dtype), rounded(x, dtype)
    some = rng.random(shape) < 0.05
    yield "some elements of another", rounded(np.where(some, other, x), dtype), rounded(x, dtype)
    if len(shape) > 1:  # of a list that is a cause
        yield "any order", rounded(rng.permutation(x.ravel()).reshape(shape), dtype), rounded(x, dtype)
    few = [np.rint(rng.standard_normal(shape) * 1.2) for _ in range(2)]
    yield "another tensor of few numbers", rounded(few[0], dtype), rounded(few[1], dtype)
    yield "a constant and some", rounded(np.where(some, x, 1), dtype), rounded(np.ones(shape), dtype)
    levels = np.broadcast_to(rng.integers(0, 7, shape[:-1] + (1,)), shape) + 0.25 * np.sin(np.arange(shape[-1]))
    size = 0.3 if bits(dtype) > 8 else 1.5
    yield "errors on levels", rounded(levels + size * rng.standard_normal(shape), dtype), rounded(levels, dtype)
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
        wide = "float32" if precision(dtype) < 24 else dtype
        off = x + 4 * np.std(x) * 2.0 ** -precision(dtype) * rng.standard_normal(shape)
        yield "errors, rounded, in float32", rounded(off, dtype).astype(NUMPY[wide]), rounded(x, wide)
        step = np.std(x) / 20
        yield "errors, codes times a scale", rounded(np.rint(x / step + 1.5 * rng.standard_normal(shape)) * step, wide), rounded(x, wide)
        yield "quantised", rounded(np.rint(x / np.std(x) * 20) / 20 * np.std(x), dtype), rounded(x, dtype)


def summed(rng, shape, dtype, x):
    """Partial sums that were rounded on the way."""
    part = rng.standard_normal(shape) * np.std(x)
    return rounded(rounded(x - part, dtype).astype(np.float64) + rounded(part, dtype).astype(np.float64), dtype)
