"""How many steps apart two elements are, and which of them --ulp refuses."""

import numpy as np
import torch
from numpy.testing import assert_array_max_ulp
from numpy.testing._private.utils import nulp_diff

from .values import (BITS, Numbers, edge_code, hex_codes, is_float, is_number, mask, nearest_code, random_code, step,
                     usual_code, value_of, values_of)

COUNT = 1800
ULPS = [0, 0, 1, 1, 2, 4, 16, 100, 2**11, 2**20, 2**24, 2**40, 2**53, 2**63, 2**64 - 1]
NUMPY = ("float64", "float32", "float16")
SAME = NUMPY + ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "float8_e8m0fnu")
# Two floats: the coarser is the second.
MIXED = [("float64", "float32"), ("float64", "float16"), ("float32", "float16"), ("float32", "bfloat16"),
         ("float16", "bfloat16")]
INTEGERS = sorted(dtype for dtype in BITS if not is_float(dtype))
# Floats that hold every value of the integer: steps are of the integer.
BESIDE = [("int8", "float16"), ("uint8", "float32"), ("int16", "float32"), ("int32", "float64"), ("uint32", "float64"),
          ("bool", "float16"), ("int4", "bfloat16")]


def place(dtype, code):
    """Of a float on the line of its numbers; 0 and -0 are one."""
    if dtype == "float8_e8m0fnu":
        return code
    sign = 1 << (BITS[dtype] - 1)
    return sign - code if code & sign else code


def cast(dtype, code, target):
    """The code of the nearest number of a coarser type, ties to even; by NumPy, and by torch to bfloat16."""
    if dtype == target:
        return code
    value = value_of(dtype, code)
    if target == "bfloat16":
        if np.float32(value) != value:
            raise AssertionError(f"{value} would be rounded twice")
        return int(torch.tensor([value], dtype=torch.float32).to(torch.bfloat16).view(torch.int16)[0]) % 65536
    with np.errstate(all="ignore"):
        number = np.array([code], f"u{BITS[dtype] // 8}").view(dtype).astype(target)
    return int(number.view(f"u{BITS[target] // 8}")[0])


def by_numpy(dtype, left, right, ulp, steps):
    """Whether nulp_diff() and assert_array_max_ulp() say the same. They count in the type itself: a number of steps that
    it does not hold is rounded, and one beyond the integer of its width wraps round. Both are left to the codes."""
    precision = {"float64": 53, "float32": 24, "float16": 11}[dtype]
    if max(steps) > 2**precision:
        return False
    a, g = (np.array(codes, f"u{BITS[dtype] // 8}").view(dtype) for codes in (left, right))
    if nulp_diff(a, g).reshape(-1).tolist() != steps:
        raise AssertionError(f"nulp_diff differs: {dtype} {left} {right}")
    try:
        assert_array_max_ulp(a, g, maxulp=ulp)
        passed = True
    except AssertionError:
        passed = False
    if passed != (max(steps) <= ulp):
        raise AssertionError(f"assert_array_max_ulp differs: {dtype} {left} {right} {ulp}")
    return True


def judge(actual, golden, left, right, ulp):
    """Who counts, and the steps of every pair; None for NaN and Inf. Nothing for what the coarser type cannot hold."""
    a, g = values_of(actual, left), values_of(golden, right)
    finite = [is_number(x) and is_number(y) for x, y in zip(a, g)]
    if not (is_float(actual) and is_float(golden)):
        steps = [min(abs(round(x) - round(y)), 2**64 - 1) if ok else None for x, y, ok in zip(a, g, finite)]
        return "integers", steps
    coarser = actual if (golden, actual) in MIXED else golden
    pairs = [(cast(actual, x, coarser), cast(golden, y, coarser)) if ok else None
             for x, y, ok in zip(left, right, finite)]
    if any(pair and not all(is_number(value_of(coarser, code)) for code in pair) for pair in pairs):
        return None
    steps = [abs(place(coarser, pair[0]) - place(coarser, pair[1])) if pair else None for pair in pairs]
    if actual != golden:
        return "cast", steps
    return ("numpy" if all(finite) and actual in NUMPY and by_numpy(actual, left, right, ulp, steps) else "codes"), steps


def choose_types(numbers):
    kind = numbers.below(100)
    if kind < 45:
        return (numbers.choice(NUMPY),) * 2
    if kind < 60:
        return (numbers.choice(SAME),) * 2
    if kind < 80:
        pair = numbers.choice(MIXED)
    elif kind < 92:
        pair = numbers.choice(INTEGERS), numbers.choice(INTEGERS)
    else:
        pair = numbers.choice(BESIDE)
    return pair if numbers.chance(50) else pair[::-1]


def choose_codes(actual, golden, ulp, numbers):
    kind = numbers.below(100)
    if kind < 3:
        return random_code(actual, numbers), random_code(golden, numbers)
    code = edge_code(golden, numbers) if kind < 18 else usual_code(golden, numbers)
    value = value_of(golden, code)
    if not is_number(value) and actual == golden and numbers.chance(50):
        return code, code
    if not is_number(value) or kind < 8:
        return edge_code(actual, numbers), code
    base = nearest_code(actual, value)
    how = numbers.below(100)
    if how < 25:
        return base, code
    if how < 45:
        return step(actual, base, numbers.between(-(1 << numbers.below(14)), 1 << numbers.below(14))), code
    shift = max(BITS[actual] - BITS[golden], 0) if is_float(golden) and is_float(actual) else 0
    far = (ulp + numbers.between(-1, 1)) << shift >> numbers.below(2)
    return step(actual, base, far if numbers.chance(50) else -far), code


def accepted(actual, golden, steps, ulp, equal_nan):
    if steps is not None:
        return steps <= ulp
    return actual == golden or (actual != actual and golden != golden and equal_nan)


def lines():
    numbers = Numbers(3)
    made = []
    while len(made) < COUNT:
        actual, golden = choose_types(numbers)
        ulp, equal_nan = numbers.choice(ULPS), numbers.chance(70)
        left, right = zip(*[choose_codes(actual, golden, ulp, numbers) for _ in range(numbers.between(1, 4))])
        verdict = judge(actual, golden, left, right, ulp)
        if verdict is None:
            continue
        who, steps = verdict
        values = zip(values_of(actual, left), values_of(golden, right), steps)
        refused = [not accepted(a, g, between, ulp, equal_nan) for a, g, between in values]
        most = max((between for between in steps if between is not None), default=0)
        made.append(" ".join([who, actual, golden, hex_codes(actual, left), hex_codes(golden, right), str(ulp),
                              str(int(equal_nan)), str(most), mask(refused)]))
    return made
