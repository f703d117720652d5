"""Quantisation by exact arithmetic (docs/dtypes.md 5)."""

from fractions import Fraction

from casts import cast_number, exponent_of, integer_limits, largest, round_integer
from elements import BY_NAME, Number, decode, power_of_two
from harness import Refused

FLOAT32 = BY_NAME["float32"]
# Codes, and elements of a block.
BLOCKS = {"mxfp8": ("float8_e4m3fn", 32), "mxfp4": ("float4_e2m1fn", 32), "nvfp4": ("float4_e2m1fn", 16)}


def is_small(dtype):
    """What scales are for."""
    return dtype.is_integer or dtype.is_float and dtype.bits <= 8 and not dtype.is_scale


def stands_for(code, dtype, scale, zero_point=0, negative_scale=False):
    """The number that a code stands for. `scale` is a fraction, or None for NaN; that of a block may be below 0, or
    -0."""
    value = decode(dtype, code)
    negative = value.negative != negative_scale
    if scale is None or value.special == "nan":
        return Number(negative, None, "nan")
    if value.special == "inf":
        return Number(negative, None, "inf" if scale else "nan")
    product = (value.value - zero_point) * scale
    return Number(negative if dtype.is_float else product < 0, product)


def quantise(number, dtype, scale, zero_point, overflow, how, account):
    """The code of a number."""
    if dtype.is_float:
        if number.value is not None and scale:
            scaled = Number(number.negative, number.value / scale)
        elif number.value is not None:
            scaled = Number(number.negative, Fraction(0))  # of a block whose scale is 0
        else:
            scaled = number
        code, loss = cast_number(scaled, dtype, overflow)
        clamped = loss == "overflowed"
    else:
        least, most = integer_limits(dtype)
        if number.special == "nan":
            value = zero_point
        elif number.special == "inf":
            value = least - 1 if number.negative else most + 1
        else:
            value = round_integer(number.value / scale, how or "nearest") + zero_point
        clamped = not least <= value <= most
        code = min(max(value, least), most) & (1 << dtype.bits) - 1
    result = stands_for(code, dtype, scale, zero_point)
    account.add(number, result, loss_class(number, result, clamped))
    return code


def loss_class(number, result, overflowed):
    if overflowed:
        return "overflowed"
    if number.special == "nan":
        return None if result.special == "nan" else "nan_lost"
    if number.value == result.value:
        return None
    return "to_zero" if result.value == 0 else "inexact"


def dequantise(code, dtype, scale, zero_point, target, overflow, account, negative_scale=False):
    number = stands_for(code, dtype, scale, zero_point, negative_scale)
    result, loss = cast_number(number, target, overflow)
    account.add(number, decode(target, result), loss, target)
    return result


def as_float32(value):
    """A double rounded to float32; as a fraction."""
    code, _ = cast_number(Number(value < 0, Fraction(value)), FLOAT32)
    return decode(FLOAT32, code).value


def scale_of(maximum, divisor):
    """max / divisor in double, rounded to float32 and kept within its positive numbers."""
    if maximum == 0:
        return Fraction(1)
    quotient = float(maximum) / float(divisor)
    most, least = largest(FLOAT32), power_of_two(-149)
    if quotient == float("inf") or quotient > most:
        return most
    return max(as_float32(quotient), least) if quotient > least else least


def is_affine(dtype, zero_point):
    """Do the codes lie otherwise than around 0?"""
    return dtype.is_integer and (zero_point != 0 or dtype.kind == "unsigned")


def next_float32(value):
    code, _ = cast_number(Number(False, value), FLOAT32)
    return decode(FLOAT32, code + 1).value


def affine_scale(numbers, dtype, zero_point, how):
    """The scale with which every finite number fits, and the zero point: that given, or that found. Refused is what no
    scale brings into range."""
    finite = [n.value for n in numbers if n.value is not None]
    low, high = min([Fraction(0), *finite]), max([Fraction(0), *finite])
    least, most = integer_limits(dtype)
    if zero_point is None:
        quotient = (high - low) / (most - least)
    else:
        if high and zero_point == most or low and zero_point == least:
            raise Refused
        quotient = max(high / (most - zero_point) if high else Fraction(0),
                       low / (least - zero_point) if low else Fraction(0))

    def found(scale):
        return least - round_integer(low / scale, how) if zero_point is None else zero_point

    if quotient == 0:
        return Fraction(1), zero_point or 0
    scale = as_float32(quotient)
    if scale is not None:
        scale = max(scale, power_of_two(-149))
    while True:
        if scale is None:  # beyond float32
            raise Refused
        zero = found(scale)
        if all(least <= round_integer(end / scale, how) + zero <= most for end in (low, high)):
            return scale, zero
        scale = next_float32(scale)


def largest_magnitude(numbers):
    return max((abs(n.value) for n in numbers if n.value is not None), default=Fraction(0))


def float32_bytes(value):
    code, _ = cast_number(Number(value < 0, value), FLOAT32)
    return code


def block_exponent(dtype):
    """emax: that of the largest number."""
    return exponent_of(largest(dtype))


def mx_scale(maximum, dtype):
    """The code, an E8M0, and the scale."""
    if maximum == 0:
        return 0, power_of_two(-127)
    exponent = min(max(exponent_of(maximum) - block_exponent(dtype), -127), 127)
    return exponent + 127, power_of_two(exponent)


def nvfp4_scale(maximum, dtype, of_tensor):
    e4m3 = BY_NAME["float8_e4m3fn"]
    code, _ = cast_number(Number(False, maximum / largest(dtype) / of_tensor), e4m3)
    return code, decode(e4m3, code).value
