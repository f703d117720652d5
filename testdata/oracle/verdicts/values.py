"""Element types as codes and values, values at the edges, exact arithmetic."""

import bisect
import functools
import math
import os
import sys
from fractions import Fraction

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from generator.elements import FLOATS, SIGNED, special_codes, value_of  # noqa: E402

BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "float8_e4m3fn": 8, "float8_e5m2": 8,
        "float8_e8m0fnu": 8, "float4_e2m1fn": 4, "int4": 4, "int8": 8, "int16": 16, "int32": 32, "int64": 64,
        "uint4": 4, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "bool": 8}
WIDE = ("int64", "uint64")  # not all of their values are float64
LARGEST = Fraction(np.finfo(np.float64).max)


class Numbers:
    """Repeatable numbers that look random (splitmix64), the same in every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def below(self, limit):
        return self.bits() % limit

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def choice(self, items):
        return items[self.below(len(items))]


def is_float(dtype):
    return dtype in FLOATS or dtype == "float8_e8m0fnu"


def is_number(value):
    return not isinstance(value, float) or math.isfinite(value)


def limits(dtype):
    """Least and largest of an integer type."""
    if dtype == "bool":
        return 0, 1
    bits = BITS[dtype]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype in SIGNED else (0, (1 << bits) - 1)


@functools.cache
def small_floats(dtype):
    """(value, code) of all numbers of a float type of at most 16 bits, ascending; 0 once."""
    numbers = {value_of(dtype, code): code for code in reversed(range(1 << BITS[dtype]))}
    return sorted((value, code) for value, code in numbers.items() if math.isfinite(value))


def nearest_code(dtype, value):
    """The code of a number next to `value`, a Python number, within the range of the type."""
    if not is_float(dtype):
        low, high = limits(dtype)
        return min(max(round(value), low), high) % (1 << BITS[dtype])
    value = Fraction(value)
    value = float(min(max(value, -LARGEST), LARGEST))
    if dtype in ("float64", "float32"):
        largest = float(np.finfo(dtype).max)
        number = np.array([min(max(value, -largest), largest)], dtype)
        return int(number.view(f"u{number.itemsize}")[0])
    table = small_floats(dtype)
    at = bisect.bisect_left(table, (value, 0))
    near = table[max(at - 1, 0):at + 1]
    return min(near, key=lambda entry: abs(Fraction(entry[0]) - Fraction(value)))[1]


def step(dtype, code, steps):
    """The code so many numbers away; as it is where the type ends, and for NaN and Inf."""
    value = value_of(dtype, code)
    if not is_number(value):
        return code
    if not is_float(dtype):
        low, high = limits(dtype)
        return min(max(value + steps, low), high) % (1 << BITS[dtype])
    if dtype == "float8_e8m0fnu":
        return min(max(code + steps, 0), 254)
    sign = 1 << (BITS[dtype] - 1)
    place = (sign - code if code & sign else code) + steps
    moved = place if place >= 0 else sign - place
    return moved if abs(place) < sign and is_number(value_of(dtype, moved)) else code


def edge_code(dtype, numbers):
    """A code at one of the edges of the type."""
    if dtype == "float8_e8m0fnu":
        return numbers.choice([0, 1, 126, 127, 128, 253, 254, 255])
    if dtype in FLOATS:
        return numbers.choice(special_codes(dtype))
    low, high = limits(dtype)
    around = [low, low + 1, -1, 0, 1, 2, high - 1, high]
    if BITS[dtype] == 64:
        around += [sign * (2**power + by) for sign in (-1, 1) for power in (24, 31, 52, 53, 62, 63) for by in (-1, 0, 1)]
    return numbers.choice([value for value in around if low <= value <= high]) % (1 << BITS[dtype])


def random_code(dtype, numbers):
    code = numbers.bits() >> (64 - BITS[dtype])
    return code & 1 if dtype == "bool" else code


def usual_code(dtype, numbers):
    """A number of a size that tensors have."""
    if dtype == "bool":
        return numbers.below(2)
    magnitude = math.ldexp(1 + numbers.below(2**20) / 2**20, numbers.between(-12, 12))
    if not is_float(dtype):
        low, high = limits(dtype)
        if BITS[dtype] == 64 and numbers.chance(60):
            magnitude = numbers.bits() >> numbers.between(0, 40)
        magnitude = min(magnitude, high)
        return nearest_code(dtype, -magnitude if low < 0 and numbers.chance(50) else magnitude)
    return nearest_code(dtype, -magnitude if numbers.chance(50) else magnitude)


def allowed(golden, rtol, atol):
    return Fraction(atol) + Fraction(rtol) * abs(Fraction(golden))


def too_near(actual, golden, rtol, atol):
    """Is the error so near to what is allowed that the roundings of float64 may decide?"""
    error, most = abs(Fraction(actual) - Fraction(golden)), allowed(golden, rtol, atol)
    return error != 0 and abs(error - most) * 2**48 <= max(error, most)


def fits_64_bits(value):
    """Is it m * 2^e with |m| < 2^64?"""
    odd = value.numerator
    while odd and odd % 2 == 0:
        odd //= 2
    return value.denominator & (value.denominator - 1) == 0 and odd.bit_length() <= 64


def exact_verdict(actual, golden, rtol, atol, equal_nan):
    """NumPy's formula without rounding. None where the roundings of an arithmetic of 64 significant bits decide."""
    if not (is_number(actual) and is_number(golden)):
        return actual == golden or (actual != actual and golden != golden and equal_nan)
    error = abs(Fraction(actual) - Fraction(golden))
    most = allowed(golden, rtol, atol)
    steps = (error, Fraction(rtol) * abs(Fraction(golden)), most)
    if error == 0 or all(map(fits_64_bits, steps)) or abs(error - most) > max(error, most) / 2**60:
        return error <= most
    return None


def exactly_float64(value):
    return isinstance(value, float) or int(float(value)) == value


def hex_codes(dtype, codes):
    """Every code in as many hex digits as the type needs, one behind the other."""
    return "".join(f"{code:0{BITS[dtype] // 4}x}" for code in codes)


def mask(flags):
    """Bit i is flag i."""
    return f"{sum(1 << i for i, flag in enumerate(flags) if flag):x}"


def values_of(dtype, codes):
    return [value_of(dtype, int(code)) for code in codes]
