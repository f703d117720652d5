"""Which elements rtol and atol refuse: numpy.isclose and torch.isclose on float64 decide, and fractions where float64
is not enough."""

from fractions import Fraction

import numpy as np
import torch

from .values import (BITS, WIDE, Numbers, allowed, edge_code, exact_verdict, exactly_float64, hex_codes, is_float,
                     is_number, mask, nearest_code, random_code, step, too_near, usual_code, value_of, values_of)

COUNT = 10000
TOLERANCES = [0.0, 0.0, 5e-324, 1e-310, 1e-30, 2.0**-52, 1e-12, 1e-8, 1e-7, 1.3e-6, 1e-5, 1e-4, 1e-3, 2.0**-10, 1.6e-2,
              0.1, 0.5, 1.0, 3.0, 100.0, 1e6, 2.0**53, 1e19, 1e300]
FOUR = ("float64", "float32", "float16", "bfloat16")
HUGE_TOLERANCES = ([0.5, 1.0, 1.5, 2.0], [0.0, 1e300, 1e308, 1.7e308])


def choose_types(numbers):
    kind = numbers.below(100)
    if kind < 45:
        return (numbers.choice(FOUR),) * 2
    if kind < 60:
        return numbers.choice(FOUR), numbers.choice(FOUR)
    if kind < 70:
        return numbers.choice(WIDE), numbers.choice(WIDE)
    if kind < 80:
        return (numbers.choice(sorted(BITS)),) * 2
    return numbers.choice(sorted(BITS)), numbers.choice(sorted(BITS))


def choose_codes(actual, golden, rtol, atol, numbers):
    """A pair of codes: anything, equal, a few steps apart, or with just the error that is allowed, give or take a
    step."""
    kind = numbers.below(100)
    if kind < 3:
        return random_code(actual, numbers), random_code(golden, numbers)
    code = edge_code(golden, numbers) if kind < 20 else usual_code(golden, numbers)
    if kind < 5 and is_float(golden) and BITS[golden] >= 16:
        code = numbers.bits() % (1 << (BITS[golden] - 12))  # subnormal, or next to it
    value = value_of(golden, code)
    if not is_number(value) and actual == golden and numbers.chance(50):
        return code, code
    if not is_number(value) or kind < 10:
        return edge_code(actual, numbers), code
    how = numbers.below(100)
    if how < 45:
        return nearest_code(actual, value), code
    if how < 60:
        return step(actual, nearest_code(actual, value), numbers.between(-4, 4)), code
    error = allowed(value, rtol, atol)
    target = Fraction(value) + (error if numbers.chance(50) else -error)
    return step(actual, nearest_code(actual, target), numbers.between(-1, 1)), code


def overflows(actual, golden, rtol, atol):
    """Are both the error and what is allowed beyond float64? NumPy compares Inf with Inf then and accepts; torch
    refuses."""
    if not (is_number(actual) and is_number(golden)):
        return False
    with np.errstate(over="ignore"):
        error = np.abs(np.float64(actual) - np.float64(golden))
        most = np.float64(atol) + np.float64(rtol) * np.abs(np.float64(golden))
    return bool(np.isinf(error) and np.isinf(most))


def by_libraries(left, right, rtol, atol, equal_nan):
    """NumPy's and torch's verdicts, which must be the same."""
    a, g = np.array(left, np.float64), np.array(right, np.float64)
    with np.errstate(all="ignore"):
        close = np.isclose(a, g, rtol, atol, equal_nan).tolist()
        whole = bool(np.allclose(a, g, rtol, atol, equal_nan))
    a, g = torch.tensor(left, dtype=torch.float64), torch.tensor(right, dtype=torch.float64)
    if close != torch.isclose(a, g, rtol, atol, equal_nan).tolist():
        raise AssertionError(f"NumPy and torch differ: {left} {right} {rtol} {atol}")
    if not whole == all(close) == torch.allclose(a, g, rtol, atol, equal_nan):
        raise AssertionError(f"isclose and allclose differ: {left} {right} {rtol} {atol}")
    return close


def check_fractions(left, right, rtol, atol, equal_nan, exact):
    """Where neither the values nor the threshold are too near for float64 the libraries must say the same."""
    for a, g, verdict in zip(left, right, exact):
        if not (exactly_float64(a) and exactly_float64(g) and is_number(a) and is_number(g)):
            continue
        if not too_near(a, g, rtol, atol) and by_libraries([a], [g], rtol, atol, equal_nan) != [verdict]:
            raise AssertionError(f"fractions differ from NumPy: {a} {g} {rtol} {atol}")


def judge(actual, golden, left, right, rtol, atol, equal_nan):
    """Who judges, and which elements are accepted. Nothing where the last bit of a wider arithmetic decides."""
    wide = actual in WIDE or golden in WIDE
    if not wide and not any(overflows(a, g, rtol, atol) for a, g in zip(left, right)):
        return "both", by_libraries(left, right, rtol, atol, equal_nan)
    exact = [exact_verdict(a, g, rtol, atol, equal_nan) for a, g in zip(left, right)]
    if None in exact:
        return None
    if wide:
        check_fractions(left, right, rtol, atol, equal_nan, exact)
    return ("fractions" if wide else "overflow"), exact


def huge_code(numbers):
    """A float64 of the last three binades."""
    return numbers.below(2) << 63 | numbers.between(2044, 2046) << 52 | numbers.below(1 << 52)


def lines():
    numbers = Numbers(1)
    made = []
    while len(made) < COUNT:
        huge = numbers.chance(2)
        actual, golden = choose_types(numbers) if not huge else ("float64", "float64")
        rtol, atol = (numbers.choice(HUGE_TOLERANCES[i] if huge else TOLERANCES) for i in (0, 1))
        equal_nan = numbers.chance(70)
        size = numbers.between(1, 4) if numbers.chance(97) else numbers.between(6, 16)
        codes = [(huge_code(numbers), huge_code(numbers)) if huge else
                 choose_codes(actual, golden, rtol, atol, numbers) for _ in range(size)]
        left, right = zip(*codes)
        verdict = judge(actual, golden, values_of(actual, left), values_of(golden, right), rtol, atol, equal_nan)
        if verdict is None:
            continue
        who, close = verdict
        made.append(" ".join([who, actual, golden, hex_codes(actual, left), hex_codes(golden, right), repr(rtol),
                              repr(atol), str(int(equal_nan)), mask(not ok for ok in close)]))
    return made
