"""Which elements torch.testing.assert_close refuses with the tolerances that it has for the types; with none where a float
meets an integer, of which torch takes the float's."""

from fractions import Fraction

import torch

from .values import (BITS, Numbers, allowed, edge_code, hex_codes, is_number, mask, nearest_code, random_code, step,
                     too_near, usual_code, value_of, values_of)

COUNT = 1600
TYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
         "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8,
         "bool": torch.bool}
FLOATS = ("float64", "float32", "float16", "bfloat16")
# torch's documentation, for aiming at the threshold only.
CLOSE = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5)}


def tolerances(actual, golden):
    return tuple(max(CLOSE.get(dtype, (0, 0))[i] for dtype in (actual, golden)) for i in (0, 1))


def tensor(dtype, codes):
    signed = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[BITS[dtype]]
    half = 1 << (BITS[dtype] - 1)
    bits = torch.tensor([code - 2 * half if code >= half else code for code in codes], dtype=signed)
    return bits != 0 if dtype == "bool" else bits.view(TYPES[dtype])


def promoted_exactly(actual, golden):
    """torch brings both to a common type first; an integer may be rounded then."""
    common = torch.promote_types(actual.dtype, golden.dtype)
    return all(x.dtype.is_floating_point or x.to(common).tolist() == x.tolist() for x in (actual, golden))


def rounding_decides(actual, golden, left, right):
    """int64 against a float is judged in more bits than torch's float64."""
    if "int64" not in (actual, golden) or actual not in CLOSE and golden not in CLOSE:
        return False
    rtol, atol = tolerances(actual, golden)
    return any(is_number(a) and is_number(g) and too_near(a, g, rtol, atol)
               for a, g in zip(values_of(actual, left), values_of(golden, right)))


def accepted(actual, golden, equal_nan):
    exact = {} if actual.dtype.is_floating_point == golden.dtype.is_floating_point else {"rtol": 0, "atol": 0}
    try:
        torch.testing.assert_close(actual, golden, equal_nan=equal_nan, check_dtype=False, **exact)
    except AssertionError:
        return False
    return True


def choose_codes(actual, golden, numbers):
    kind = numbers.below(100)
    if kind < 3:
        return random_code(actual, numbers), random_code(golden, numbers)
    code = edge_code(golden, numbers) if kind < 18 else usual_code(golden, numbers)
    value = value_of(golden, code)
    if not is_number(value) and actual == golden and numbers.chance(50):
        return code, code
    if not is_number(value) or kind < 8:
        return edge_code(actual, numbers), code
    how = numbers.below(100)
    if how < 40:
        return nearest_code(actual, value), code
    error = allowed(value, *tolerances(actual, golden)) if how < 85 else 0
    target = Fraction(value) + (error if numbers.chance(50) else -error)
    return step(actual, nearest_code(actual, target), numbers.between(-1, 1)), code


def choose_types(numbers):
    kind = numbers.below(100)
    if kind < 70:
        return (numbers.choice(FLOATS),) * 2
    if kind < 80:
        return (numbers.choice(sorted(TYPES)),) * 2
    return numbers.choice(sorted(TYPES)), numbers.choice(sorted(TYPES))


def lines():
    numbers = Numbers(2)
    made = []
    while len(made) < COUNT:
        actual, golden = choose_types(numbers)
        equal_nan = numbers.chance(60)
        codes = [choose_codes(actual, golden, numbers) for _ in range(numbers.between(1, 4))]
        left, right = zip(*codes)
        a, g = tensor(actual, left), tensor(golden, right)
        if not promoted_exactly(a, g) or rounding_decides(actual, golden, left, right):
            continue
        close = [accepted(a[i:i + 1], g[i:i + 1], equal_nan) for i in range(len(codes))]
        if accepted(a, g, equal_nan) != all(close):
            raise AssertionError(f"elements and whole differ: {a} {g}")
        made.append(" ".join(["torch", actual, golden, hex_codes(actual, left), hex_codes(golden, right),
                              str(int(equal_nan)), mask(not ok for ok in close)]))
    return made
