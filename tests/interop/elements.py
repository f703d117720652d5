"""Element types: what their codes mean (docs/format.md 3, docs/dtypes.md 1)."""

from fractions import Fraction
from typing import NamedTuple, Optional


class DType(NamedTuple):
    name: str
    code: int
    bits: int
    kind: str  # signed, unsigned, float, bool
    exponent: int = 0
    mantissa: int = 0
    bias: int = 0
    specials: str = ""  # of floats: ieee (Inf and NaN), nan (NaN only), fnuz (NaN in the place of -0), none

    @property
    def is_float(self):
        return self.kind == "float"

    @property
    def is_integer(self):
        return self.kind in ("signed", "unsigned")

    @property
    def is_scale(self):
        """E8M0: no sign, no mantissa, no zero."""
        return self.is_float and self.mantissa == 0

    @property
    def bytes(self):
        return self.bits // 8


class Number(NamedTuple):
    """What an element stands for. `value` is None for Inf and NaN; `negative` tells -0 from 0."""
    negative: bool
    value: Optional[Fraction]
    special: str = ""  # inf, nan


DTYPES = [
    DType("int8", 0, 8, "signed"),
    DType("int16", 1, 16, "signed"),
    DType("int32", 2, 32, "signed"),
    DType("int64", 3, 64, "signed"),
    DType("float32", 4, 32, "float", 8, 23, 127, "ieee"),
    DType("float64", 5, 64, "float", 11, 52, 1023, "ieee"),
    DType("uint8", 6, 8, "unsigned"),
    DType("uint16", 7, 16, "unsigned"),
    DType("uint32", 8, 32, "unsigned"),
    DType("uint64", 9, 64, "unsigned"),
    DType("float16", 128, 16, "float", 5, 10, 15, "ieee"),
    DType("bfloat16", 129, 16, "float", 8, 7, 127, "ieee"),
    DType("float8_e4m3fn", 130, 8, "float", 4, 3, 7, "nan"),
    DType("float8_e5m2", 131, 8, "float", 5, 2, 15, "ieee"),
    DType("float8_e8m0fnu", 132, 8, "float", 8, 0, 127, "nan"),
    DType("float4_e2m1fn", 133, 4, "float", 2, 1, 1, "none"),
    DType("int4", 134, 4, "signed"),
    DType("uint4", 135, 4, "unsigned"),
    DType("bool", 136, 8, "bool"),
    DType("float8_e4m3fnuz", 137, 8, "float", 4, 3, 8, "fnuz"),
    DType("float8_e5m2fnuz", 138, 8, "float", 5, 2, 16, "fnuz"),
    DType("float8_e3m4", 139, 8, "float", 3, 4, 3, "ieee"),
    DType("float8_e4m3", 140, 8, "float", 4, 3, 7, "ieee"),
    DType("float8_e4m3b11fnuz", 141, 8, "float", 4, 3, 11, "fnuz"),
]
BY_CODE = {t.code: t for t in DTYPES}
BY_NAME = {t.name: t for t in DTYPES}


def sign_bit(dtype):
    return 0 if dtype.is_scale else 1 << (dtype.bits - 1)


def power_of_two(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def decode(dtype, code):
    """The number that the bits `code` stand for."""
    if dtype.kind == "bool":
        return Number(False, Fraction(1 if code else 0))
    if dtype.kind == "unsigned":
        return Number(False, Fraction(code))
    if dtype.kind == "signed":
        value = code - (1 << dtype.bits) if code >> (dtype.bits - 1) else code
        return Number(value < 0, Fraction(value))
    if dtype.is_scale:
        return Number(False, None, "nan") if code == 0xFF else Number(False, power_of_two(code - 127))
    if dtype.specials == "fnuz" and code == sign_bit(dtype):
        return Number(False, None, "nan")
    negative = bool(code & sign_bit(dtype))
    magnitude = code & (sign_bit(dtype) - 1)
    exponent = magnitude >> dtype.mantissa
    mantissa = magnitude & ((1 << dtype.mantissa) - 1)
    top = (1 << dtype.exponent) - 1
    if dtype.specials == "ieee" and exponent == top:
        return Number(negative, None, "nan" if mantissa else "inf")
    if dtype.specials == "nan" and magnitude == sign_bit(dtype) - 1:
        return Number(negative, None, "nan")
    if exponent == 0:
        value = mantissa * power_of_two(1 - dtype.bias - dtype.mantissa)
    else:
        value = ((1 << dtype.mantissa) + mantissa) * power_of_two(exponent - dtype.bias - dtype.mantissa)
    return Number(negative, -value if negative else value)


def stream_bytes(dtype, elements):
    """Bytes of that many elements one behind the other."""
    return (elements * dtype.bits + 7) // 8


def unpack(dtype, data, elements):
    """The codes of a packed stream."""
    if dtype.bits == 4:
        return [data[k // 2] >> (4 * (k % 2)) & 15 for k in range(elements)]
    b = dtype.bytes
    return [int.from_bytes(data[k * b:k * b + b], "little") for k in range(elements)]


def pack(dtype, codes):
    if dtype.bits == 4:
        data = bytearray(stream_bytes(dtype, len(codes)))
        for k, code in enumerate(codes):
            data[k // 2] |= code << (4 * (k % 2))
        return bytes(data)
    return b"".join(code.to_bytes(dtype.bytes, "little") for code in codes)
