"""Bit patterns ("codes") of values, and what they mean."""

import math
import struct

import numpy as np

# name: (exponent bits, fraction bits, bias, has Inf, has NaN at the top)
FLOATS = {
    "float64": (11, 52, 1023, True, True),
    "float32": (8, 23, 127, True, True),
    "float16": (5, 10, 15, True, True),
    "bfloat16": (8, 7, 127, True, True),
    "float8_e4m3fn": (4, 3, 7, False, True),
    "float8_e5m2": (5, 2, 15, True, True),
    "float4_e2m1fn": (2, 1, 1, False, False),
    "float8_e4m3fnuz": (4, 3, 8, False, False),
    "float8_e5m2fnuz": (5, 2, 16, False, False),
    "float8_e3m4": (3, 4, 3, True, True),
    "float8_e4m3": (4, 3, 7, True, True),
    "float8_e4m3b11fnuz": (4, 3, 11, False, False),
}
SIGNED = {"int4": 4, "int8": 8, "int16": 16, "int32": 32, "int64": 64}


def codes_of(dtype, values):
    """Codes of values that the type holds; for the types that NumPy has."""
    array = np.asarray(values).astype(dtype)
    return array.view(f"u{array.itemsize}")


def counting(dtype, shape):
    """1, 2, 3, .. as far as the type counts exactly, then again. Never zero, so no element looks like padding."""
    numbers = np.arange(math.prod(shape))
    if dtype == "int8":
        numbers = numbers % 254 + 1
        values = np.where(numbers > 127, numbers - 255, numbers)
    else:
        values = numbers % {"float16": 2047, "float32": 2**24}[dtype] + 1
    return codes_of(dtype, values).reshape(shape)


def special_codes(dtype):
    """The codes of a float type at its edges, both signs."""
    exponent_bits, fraction_bits, bias, has_inf, has_nan = FLOATS[dtype]
    fraction_max = (1 << fraction_bits) - 1
    exponent_max = (1 << exponent_bits) - 1
    top = exponent_max << fraction_bits
    one = bias << fraction_bits
    codes = [0, 1, fraction_max, 1 << fraction_bits]  # zero, least and greatest subnormal, least normal
    codes += [one, one + 1]
    if has_inf:
        quiet = 1 << (fraction_bits - 1)
        codes += [top - 1, top, top | quiet, top | fraction_max]  # max, Inf, NaN, NaN with a payload
        if quiet > 1:
            codes.append(top | 1)  # signalling NaN
    elif has_nan:
        codes += [(top | fraction_max) - 1, top | fraction_max]  # max, NaN
    else:
        codes += [top, top | fraction_max]  # two largest
    sign = 1 << (exponent_bits + fraction_bits)
    return [code | s for code in codes for s in (0, sign)]


def value_of(dtype, code):
    """What a code means, as a Python int or float. NaN keeps its sign."""
    if dtype == "float8_e8m0fnu":
        return math.nan if code == 0xFF else math.ldexp(1.0, code - 127)
    if dtype.endswith("fnuz") and code == 0x80:
        return math.nan  # in the place of -0
    if dtype == "bool":
        return int(code != 0)
    if dtype in SIGNED:
        bits = SIGNED[dtype]
        return code - (1 << bits) if code >> (bits - 1) else code
    if dtype not in FLOATS:
        return code
    exponent_bits, fraction_bits, bias, has_inf, has_nan = FLOATS[dtype]
    sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
    exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = code & ((1 << fraction_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if has_inf:
            return math.copysign(math.nan if fraction else math.inf, sign)
        if has_nan and fraction == (1 << fraction_bits) - 1:
            return math.copysign(math.nan, sign)
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)


def widened(dtype, codes, target):
    """Codes of the same values in float32 or float64. NaN is quiet with its sign and no payload; big integers go to
    the nearest even."""
    form, quiet_nan = {"float32": ("<f", 0x7FC00000), "float64": ("<d", 0x7FF8000000000000)}[target]
    if dtype == target:
        return codes
    bits = struct.calcsize(form) * 8

    def convert(code):
        value = value_of(dtype, int(code))
        if isinstance(value, float) and math.isnan(value):
            return quiet_nan | (math.copysign(1, value) < 0) << (bits - 1)
        return int.from_bytes(struct.pack(form, value), "little")

    return np.array([convert(code) for code in codes.reshape(-1)], f"u{bits // 8}").reshape(codes.shape)


class Lcg:
    """A small generator of repeatable numbers (Knuth's MMIX constants)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit
