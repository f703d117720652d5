"""Casts of single elements by exact arithmetic, and their account (docs/dtypes.md 2 and 3)."""

import math
from fractions import Fraction

from elements import decode, power_of_two, sign_bit

LOSSES = ("overflowed", "nan_lost", "to_zero", "inexact")


def exponent_of(value):
    """Of the largest power of two up to a positive value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if power_of_two(exponent) <= value else exponent - 1


def integer_limits(dtype):
    if dtype.kind == "signed":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def largest(dtype):
    """The largest finite number."""
    if dtype.kind == "bool":
        return Fraction(1)
    if not dtype.is_float:
        return Fraction(integer_limits(dtype)[1])
    if dtype.is_scale:
        return power_of_two(127)
    top = sign_bit(dtype) - 1
    if dtype.specials == "nan":
        top -= 1
    elif dtype.specials == "ieee":
        top = ((1 << dtype.exponent) - 1 << dtype.mantissa) - 1
    return decode(dtype, top).value


def floor(value):
    return value.numerator // value.denominator


def round_integer(value, how):
    if how == "nearest":
        return round(value)  # Python's ties go to even
    if how == "up":
        return -floor(-value)
    if how == "down":
        return floor(value)
    return floor(value) if value >= 0 else -floor(-value)


def nan_code(dtype, negative):
    if dtype.is_scale:
        return 0xFF
    if dtype.specials == "fnuz":
        return sign_bit(dtype)
    quiet = ((1 << dtype.exponent) - 1 << dtype.mantissa) | 1 << (dtype.mantissa - 1)
    code = quiet if dtype.specials == "ieee" else sign_bit(dtype) - 1
    return code | (sign_bit(dtype) if negative else 0)


def infinity_code(dtype, negative):
    return ((1 << dtype.exponent) - 1 << dtype.mantissa) | (sign_bit(dtype) if negative else 0)


def exact_code(dtype, magnitude, negative):
    """The code of a number that the type has."""
    least = 1 - dtype.bias
    if magnitude < power_of_two(least):
        code = int(magnitude / power_of_two(least - dtype.mantissa))
    else:
        exponent = exponent_of(magnitude)
        mantissa = int(magnitude / power_of_two(exponent - dtype.mantissa)) - (1 << dtype.mantissa)
        code = exponent + dtype.bias << dtype.mantissa | mantissa
    if code == 0 and dtype.specials == "fnuz":
        return 0
    return code | (sign_bit(dtype) if negative else 0)


def round_to_precision(dtype, magnitude):
    """To nearest even, as if the exponent had no upper limit."""
    if magnitude == 0:
        return magnitude
    quantum = power_of_two(max(exponent_of(magnitude), 1 - dtype.bias) - dtype.mantissa)
    return round(magnitude / quantum) * quantum


def saturates(dtype):
    return dtype.bits <= 8


def beyond(dtype, negative, overflow, was_infinite):
    """The code of what does not fit a float, and whether that counts as overflowed."""
    if not saturates(dtype):
        return infinity_code(dtype, negative), not was_infinite
    if overflow != "ieee" or dtype.specials == "none":
        return exact_code(dtype, largest(dtype), negative), True
    if dtype.specials in ("nan", "fnuz"):
        return nan_code(dtype, negative), True
    return infinity_code(dtype, negative), not was_infinite


def to_float(number, dtype, overflow):
    if number.special == "nan":
        return (exact_code(dtype, largest(dtype), False), True) if dtype.specials == "none" else (
            nan_code(dtype, number.negative), False)
    if number.special == "inf":
        return beyond(dtype, number.negative, overflow, True)
    rounded = round_to_precision(dtype, abs(number.value))
    if rounded > largest(dtype):
        return beyond(dtype, number.negative, overflow, False)
    return exact_code(dtype, rounded, number.negative), False


def to_scale(number, overflow, how):
    """To E8M0."""
    if number.special == "nan":
        return 0xFF, False
    top = 0xFF if overflow == "ieee" else 0xFE
    if number.special == "inf":
        return top, True
    magnitude = abs(number.value)
    if magnitude <= power_of_two(-127):
        return 0, False
    exponent = exponent_of(magnitude)
    above = magnitude / power_of_two(exponent)
    if how in (None, "up") and above > 1 or how == "nearest" and above >= Fraction(3, 2):
        exponent += 1
    if exponent < -127:
        return 0, False
    return (top, True) if exponent > 127 else (exponent + 127, False)


def to_integer(number, dtype, overflow, how):
    mask = (1 << dtype.bits) - 1
    least, most = integer_limits(dtype)
    if number.special == "nan":
        return 0, False
    if number.special == "inf":
        return (0 if overflow == "wrap" else (least if number.negative else most) & mask), True
    value = round_integer(number.value, how)
    if least <= value <= most:
        return value & mask, False
    return (value if overflow == "wrap" else min(max(value, least), most)) & mask, True


def loss_of(number, result, overflowed):
    """The class of a change, or None."""
    if overflowed and number.special != "nan":
        return "overflowed"
    if number.special == "nan":
        return None if result.special == "nan" else "nan_lost"
    if number.special == "inf":
        return None if result.special == "inf" and result.negative == number.negative else "overflowed"
    if result.value == number.value:
        return None
    return "to_zero" if result.value == 0 else "inexact"


def cast_number(number, target, overflow="saturate", how=None):
    """A number, to a code of `target` and the class of the loss."""
    overflowed = False
    if target.kind == "bool":
        code = 0 if number.value == 0 else 1
        overflowed = number.special == "inf"
    elif target.is_scale:
        code, overflowed = to_scale(number, overflow, how)
    elif target.is_float:
        code, overflowed = to_float(number, target, overflow)
    else:
        code, overflowed = to_integer(number, target, overflow, how)
    return code, loss_of(number, decode(target, code), overflowed)


class Account:
    """What the casts of one tensor did; with its noise if that is to be measured."""

    def __init__(self, noise=False):
        self.noise = noise
        self.signal = self.error = Fraction(0)
        self.unbounded = False  # an error that is no number
        self.counts = dict.fromkeys(LOSSES, 0)
        self.nan = 0
        self.sign_lost = 0
        self.elements = 0
        self.max_abs = self.max_rel = Fraction(0)
        self.largest = Fraction(0)  # number with an error

    def add(self, number, result, loss, target=None):
        """`target`: the dtype, where it may be one without signs."""
        self.elements += 1
        self.nan += number.special == "nan"
        self.add_noise(number, result)
        if loss:
            self.counts[loss] += 1
            self.sign_lost += loss == "inexact" and number.negative and bool(number.value) and bool(target and target.is_scale)
        if number.value is not None and result.value is not None and number.value != result.value:
            error = abs(result.value - number.value)
            self.max_abs = max(self.max_abs, error)
            self.largest = max(self.largest, abs(number.value))
            if number.value:
                self.max_rel = max(self.max_rel, error / abs(number.value))

    def add_noise(self, number, result, times=1):
        if not self.noise:
            return
        if number.value is None or result.value is None:
            same = number.special == result.special and (number.special == "nan" or number.negative == result.negative)
            self.unbounded |= not same and times > 0
            return
        self.signal += times * number.value ** 2
        self.error += times * (result.value - number.value) ** 2

    def decibels(self):
        """The signal-to-noise ratio."""
        if self.unbounded or self.error == 0:
            return -math.inf if self.unbounded else math.inf
        if self.signal == 0:
            return -math.inf
        ratio = self.signal / self.error
        return 10 * (math.log10(ratio.numerator) - math.log10(ratio.denominator))

    @property
    def changed(self):
        return sum(self.counts.values())


def cast(code, source, target, account, overflow="saturate", how=None):
    """A code of one type as a code of another."""
    if source == target:
        account.elements += 1
        if account.noise:
            account.add_noise(decode(source, code), decode(source, code))
        return code
    number = decode(source, code)
    result, loss = cast_number(number, target, overflow, how)
    account.add(number, decode(target, result), loss, target)
    return result
