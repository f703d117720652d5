"""Figures over whole tensors, worked out by NumPy."""

import math
from fractions import Fraction

import numpy as np

from .values import (BITS, WIDE, Numbers, edge_code, hex_codes, is_number, nearest_code, random_code, step, usual_code,
                     value_of, values_of)

COUNT = 600
LARGE = 3  # of these, so many with runs of more than a thousand elements
SHAPES = [[], [1], [2], [5], [9], [1, 4], [4, 1], [3, 4], [2, 2, 3], [1, 1, 7], [5, 3], [2, 1, 5], [4, 6]]
QUANTILES = [0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0]
SMALL = ("int4", "uint4", "float4_e2m1fn", "float8_e4m3fn", "int8", "bool")


def choose_types(numbers):
    kind = numbers.below(100)
    if kind < 50:
        return (numbers.choice(["float64", "float32", "float16", "bfloat16"]),) * 2
    if kind < 70:
        return (numbers.choice(SMALL + WIDE),) * 2
    return numbers.choice(sorted(BITS)), numbers.choice(sorted(BITS))


def golden_code(dtype, kind, numbers):
    if kind == 0:  # few values: ties
        return nearest_code(dtype, numbers.between(-2, 3))
    if kind == 1 and numbers.chance(10):
        return edge_code(dtype, numbers)
    if kind == 2:
        return random_code(dtype, numbers)
    return usual_code(dtype, numbers)


def actual_code(dtype, value, numbers):
    if not is_number(value):
        return edge_code(dtype, numbers)
    if numbers.chance(5):
        return edge_code(dtype, numbers)
    noise = Fraction(numbers.between(-1000, 1000), 10 ** numbers.between(4, 8)) if numbers.chance(70) else 0
    code = nearest_code(dtype, Fraction(value) * (1 + noise))
    return step(dtype, code, numbers.between(-1, 1)) if numbers.chance(30) else code


def wide(dtype, codes):
    """long doubles of 64 bits hold every value."""
    if dtype in WIDE:
        return np.array(codes, np.uint64).view(dtype).astype(np.longdouble)
    return np.array(values_of(dtype, codes), np.float64).astype(np.longdouble)


def decibels(ratio):
    with np.errstate(divide="ignore"):
        return 10 * np.log10(ratio)


def sums(actual, golden):
    """rmse, cosine, psnr, snr; of equal tensors the limits that they go to."""
    error2 = np.sum((actual - golden) ** 2)
    if error2 == 0:
        return 0.0, 1.0, math.inf, math.inf
    mean = error2 / actual.size
    norms = np.sqrt(np.sum(actual**2)) * np.sqrt(np.sum(golden**2))
    cosine = np.sum(actual * golden) / norms if norms != 0 else 0.0
    return np.sqrt(mean), cosine, decibels(np.max(np.abs(golden)) ** 2 / mean), decibels(np.sum(golden**2) / error2)


def top(dtype, codes, k):
    """Indices of the k largest: NaN first, then descending, of equals the lower index first."""
    if dtype in WIDE:
        values = values_of(dtype, codes)
        return sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    values = np.array(values_of(dtype, codes), np.float64)
    nan = np.isnan(values)
    order = np.argsort(-np.where(nan, 0, values), kind="stable")
    return [int(i) for i in order if nan[i]][:k] + [int(i) for i in order if not nan[i]][:max(k - int(nan.sum()), 0)]


def agree(actual, golden, left, right, k):
    """Do the lists of a row name the same elements at every place, or elements that are equal in golden?"""
    values = values_of(golden, right)
    numbers = [[values[i] for i in top(*side, k)] for side in ((actual, left), (golden, right))]
    return all(a == g or (a != a and g != g) for a, g in zip(*numbers))


def top_k(actual, golden, left, right, dims, k):
    """How many rows of the last dim disagree, and the index of the first."""
    length = dims[-1] if dims else 1
    rows = [slice(at, at + length) for at in range(0, len(left), length)]
    disagreeing = [i for i, row in enumerate(rows) if not agree(actual, golden, left[row], right[row], k)]
    if not disagreeing:
        return len(rows), 0, "-"
    index = np.unravel_index(disagreeing[0], dims[:-1]) if len(dims) > 1 else ()
    return len(rows), len(disagreeing), ",".join(str(i) for i in index) or "."


def line(actual, golden, dims, left, right, k, quantiles):
    a, g = values_of(actual, left), values_of(golden, right)
    finite = [i for i in range(len(a)) if is_number(a[i]) and is_number(g[i])]
    errors = [abs(Fraction(a[i]) - Fraction(g[i])) for i in finite]
    if not finite or max(errors) > np.finfo(np.float64).max:
        return None
    errors = np.array([float(error) for error in errors])
    found = sums(wide(actual, [left[i] for i in finite]), wide(golden, [right[i] for i in finite]))
    with np.errstate(all="ignore"):
        points = [f"{q!r}={float(np.quantile(errors, q))!r}" for q in quantiles]
    rows, disagreeing, first = top_k(actual, golden, left, right, dims, k)
    return " ".join(["numpy", actual, golden, ",".join(map(str, dims)) or ".", hex_codes(actual, left),
                     hex_codes(golden, right), str(len(finite)), *(repr(float(figure)) for figure in found),
                     repr(float(errors.max())), ",".join(points), str(k), str(rows), str(disagreeing), first])


def lines():
    numbers = Numbers(4)
    made = []
    while len(made) < COUNT:
        actual, golden = choose_types(numbers)
        dims = list(numbers.choice(SHAPES))
        if len(made) < LARGE:
            actual = golden = numbers.choice(["float16", "int8", "bfloat16", "float8_e4m3fn"])
            dims = [numbers.between(2, 3), numbers.between(700, 1300)]
        kind = numbers.below(4)
        size = math.prod(dims)
        right = [golden_code(golden, kind, numbers) for _ in range(size)]
        left = [actual_code(actual, value_of(golden, code), numbers) for code in right]
        quantiles = sorted({numbers.choice(QUANTILES) for _ in range(2)} | {numbers.below(2**20) / 2**20})
        made_line = line(actual, golden, dims, left, right, numbers.between(1, 5), quantiles)
        if made_line:
            made.append(made_line)
    return made
