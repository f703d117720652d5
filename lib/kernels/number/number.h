// The definition of all casts: any code of any dtype is decoded to an exact Number, and a Number is
// encoded with one rounding. No intermediate dtype is used, so nothing is rounded twice.
#pragma once

#include <bit>
#include <cstdint>

#include "btf/cast.h"
#include "core/dtype.h"

namespace btf {

// significand * 2^(exponent - 63) with the top bit of the significand set; 64 bits are enough for
// every dtype.
struct Number {
  enum class Class : std::uint8_t { zero, finite, infinite, nan };

  std::uint64_t significand = 0;
  std::int32_t exponent = 0;
  bool negative = false;
  Class kind = Class::zero;
};

enum class Outcome : std::uint8_t { exact, inexact, to_zero, overflowed, nan_lost };

namespace number {

inline constexpr std::uint64_t kTopBit = 1ULL << 63;

constexpr std::uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~0ULL : (1ULL << count) - 1;
}

constexpr Number normalized(bool negative, std::uint64_t magnitude, int exponent_of_bit0) {
  if (magnitude == 0) return {0, 0, negative, Number::Class::zero};
  const int shift = std::countl_zero(magnitude);
  return {magnitude << shift, exponent_of_bit0 + 63 - shift, negative, Number::Class::finite};
}

constexpr std::uint64_t sign_bit(const DTypeInfo& row) {
  return row.floating() && row.fp.power_of_two ? 0 : 1ULL << (row.bits - 1);
}

// The code of the largest finite number, without the sign.
constexpr std::uint64_t max_finite(const FloatGeometry& fp) {
  const unsigned bits = fp.exponent_bits + fp.mantissa_bits;
  switch (fp.specials) {
    case FloatSpecials::ieee:
      return (low_bits(fp.exponent_bits) << fp.mantissa_bits) - 1;
    case FloatSpecials::nan_only:
      return low_bits(bits) - 1;
    case FloatSpecials::fnuz:
    case FloatSpecials::none:
      break;
  }
  return low_bits(bits);
}

// The code of the quiet NaN that is written, without its sign; for fnuz types the sign bit itself.
constexpr std::uint64_t nan_code(const FloatGeometry& fp) {
  if (fp.specials != FloatSpecials::ieee) return max_finite(fp) + 1;
  return (max_finite(fp) + 1) | (1ULL << (fp.mantissa_bits - 1));
}

// Types without -0 have no sign for a number that becomes zero.
template <DType T>
constexpr std::uint64_t with_sign(std::uint64_t sign, std::uint64_t magnitude) {
  constexpr const FloatGeometry& kFp = dtype_rows::kRows[row_of(T)].fp;
  return kFp.specials == FloatSpecials::fnuz && magnitude == 0 ? 0 : sign | magnitude;
}

template <DType T>
constexpr Number decode_float(std::uint64_t code) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr const FloatGeometry& kFp = kRow.fp;
  if (kFp.specials == FloatSpecials::fnuz && code == nan_code(kFp))
    return {0, 0, false, Number::Class::nan};
  const bool negative = (code & sign_bit(kRow)) != 0;
  const std::uint64_t magnitude = code & low_bits(kFp.exponent_bits + kFp.mantissa_bits);
  if (magnitude > max_finite(kFp)) {
    const bool infinite = kFp.specials == FloatSpecials::ieee && magnitude == max_finite(kFp) + 1;
    return {0, 0, negative, infinite ? Number::Class::infinite : Number::Class::nan};
  }
  const auto field = static_cast<int>(magnitude >> kFp.mantissa_bits);
  if constexpr (kFp.power_of_two) return {kTopBit, field - kFp.bias, false, Number::Class::finite};
  const std::uint64_t mantissa = magnitude & low_bits(kFp.mantissa_bits);
  const std::uint64_t implicit = field == 0 ? 0 : 1ULL << kFp.mantissa_bits;
  return normalized(negative, mantissa | implicit,
                    (field == 0 ? 1 : field) - kFp.bias - kFp.mantissa_bits);
}

// `code` has the element's bits in its lowest ones, and zeros above.
template <DType T>
constexpr Number decode(std::uint64_t code) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  if constexpr (kRow.kind == NumberKind::floating) {
    return decode_float<T>(code);
  } else if constexpr (kRow.kind == NumberKind::boolean) {
    return normalized(false, code != 0 ? 1 : 0, 0);
  } else {
    const bool negative = kRow.kind == NumberKind::signed_integer && (code & sign_bit(kRow)) != 0;
    const std::uint64_t magnitude = negative ? (0 - code) & low_bits(kRow.bits) : code;
    return normalized(negative, magnitude, 0);
  }
}

struct Rounded {
  std::uint64_t kept = 0;
  bool inexact = false;
};

// Returns true if kept + fraction / 2^64, of a number with this sign, is rounded to kept + 1.
constexpr bool rounds_up(std::uint64_t kept, std::uint64_t fraction, Rounding rounding,
                         bool negative) {
  switch (rounding) {
    case Rounding::nearest:
      return fraction > kTopBit || (fraction == kTopBit && (kept & 1) != 0);
    case Rounding::up:
      return fraction != 0 && !negative;
    case Rounding::down:
      return fraction != 0 && negative;
    case Rounding::zero:
    case Rounding::by_table:
      break;
  }
  return false;
}

// significand / 2^shift as an integer. The shift must not be negative; from 64 on only a fraction
// is left.
constexpr Rounded shift_right(std::uint64_t significand, int shift, Rounding rounding,
                              bool negative) {
  std::uint64_t kept = 0;
  std::uint64_t fraction = 0;  // in units of 2^-64; bit 0 is set if any lower bit is
  if (shift == 0) return {significand, false};
  if (shift < 64) {
    kept = significand >> shift;
    fraction = significand << (64 - shift);
  } else {
    // Above 64, less than a half is left.
    fraction = shift == 64 ? significand : 1;
  }
  return {kept + (rounds_up(kept, fraction, rounding, negative) ? 1 : 0), fraction != 0};
}

struct Encoded {
  std::uint64_t code = 0;
  Outcome outcome = Outcome::exact;
};

template <DType T>
constexpr Encoded encode_overflow(bool negative, const CastPolicy& policy) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr const FloatGeometry& kFp = kRow.fp;
  const std::uint64_t sign = negative ? sign_bit(kRow) : 0;
  const bool clamp =
      kFp.specials == FloatSpecials::none || (kFp.saturates && policy.overflow != Overflow::ieee);
  // The code after that of the largest number is Inf or, in a type without Inf, NaN.
  return {sign | (max_finite(kFp) + (clamp ? 0 : 1)), Outcome::overflowed};
}

template <DType T>
constexpr Encoded encode_power_of_two(const Number& x, const CastPolicy& policy) {
  constexpr const FloatGeometry& kFp = dtype_rows::kRows[row_of(T)].fp;
  if (x.kind == Number::Class::zero) return {0, Outcome::inexact};
  const bool fraction = x.significand != kTopBit;
  const bool upper_half = x.significand >= kTopBit + kTopBit / 2;
  const bool up = policy.rounding == Rounding::nearest ? upper_half
                  : policy.rounding == Rounding::by_table
                      ? fraction
                      : policy.rounding == Rounding::up && fraction;
  const int field = x.exponent + (up ? 1 : 0) + kFp.bias;
  if (field < 0) return {0, Outcome::inexact};
  if (field > static_cast<int>(max_finite(kFp))) return encode_overflow<T>(false, policy);
  const bool exact = !fraction && !x.negative;
  return {static_cast<std::uint64_t>(field), exact ? Outcome::exact : Outcome::inexact};
}

template <DType T>
constexpr Encoded encode_float(const Number& x, const CastPolicy& policy) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr const FloatGeometry& kFp = kRow.fp;
  const std::uint64_t sign = x.negative ? sign_bit(kRow) : 0;
  if (x.kind == Number::Class::nan) {
    if constexpr (kFp.specials == FloatSpecials::none) return {max_finite(kFp), Outcome::nan_lost};
    return {sign | nan_code(kFp), Outcome::exact};
  }
  if (x.kind == Number::Class::infinite) {
    Encoded result = encode_overflow<T>(x.negative, policy);
    if (kFp.specials == FloatSpecials::ieee && (result.code & ~sign) > max_finite(kFp))
      result.outcome = Outcome::exact;
    return result;
  }
  if constexpr (kFp.power_of_two) return encode_power_of_two<T>(x, policy);
  if (x.kind == Number::Class::zero) return {with_sign<T>(sign, 0), Outcome::exact};

  constexpr int kMin = 1 - kFp.bias;  // exponent of the smallest normal number
  const bool subnormal = x.exponent < kMin;
  const int shift = 63 - kFp.mantissa_bits + (subnormal ? kMin - x.exponent : 0);
  const Rounded rounded = shift_right(x.significand, shift, Rounding::nearest, x.negative);
  // The implicit bit of a normal number adds one to the exponent field; so does a carry.
  const std::uint64_t field =
      subnormal ? 0 : static_cast<std::uint64_t>(x.exponent - kMin) << kFp.mantissa_bits;
  const std::uint64_t magnitude = field + rounded.kept;
  if (magnitude > max_finite(kFp)) return encode_overflow<T>(x.negative, policy);
  const std::uint64_t code = with_sign<T>(sign, magnitude);
  if (!rounded.inexact) return {code, Outcome::exact};
  return {code, magnitude == 0 ? Outcome::to_zero : Outcome::inexact};
}

template <DType T>
constexpr Encoded encode_integer(const Number& x, const CastPolicy& policy) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr bool kSigned = kRow.kind == NumberKind::signed_integer;
  constexpr std::uint64_t kMask = low_bits(kRow.bits);
  constexpr std::uint64_t kMax = kSigned ? kMask >> 1 : kMask;
  if (x.kind == Number::Class::nan) return {0, Outcome::nan_lost};
  if (x.kind == Number::Class::zero) return {0, Outcome::exact};

  const bool wrap = policy.overflow == Overflow::wrap;
  const std::uint64_t limit = x.negative ? (kSigned ? kMax + 1 : 0) : kMax;
  const Encoded clamped{x.negative ? (0 - limit) & kMask : limit, Outcome::overflowed};
  if (x.kind == Number::Class::infinite) return wrap ? Encoded{0, Outcome::overflowed} : clamped;
  if (x.exponent > 63) {
    if (!wrap) return clamped;
    const int up = x.exponent - 63;
    const std::uint64_t low = up > 63 ? 0 : x.significand << up;
    return {(x.negative ? 0 - low : low) & kMask, Outcome::overflowed};
  }
  const Rounded rounded = shift_right(x.significand, 63 - x.exponent, policy.rounding, x.negative);
  const std::uint64_t code = (x.negative ? 0 - rounded.kept : rounded.kept) & kMask;
  if (rounded.kept > limit) return wrap ? Encoded{code, Outcome::overflowed} : clamped;
  if (!rounded.inexact) return {code, Outcome::exact};
  return {code, code == 0 ? Outcome::to_zero : Outcome::inexact};
}

constexpr Encoded encode_boolean(const Number& x) {
  if (x.kind == Number::Class::nan) return {1, Outcome::nan_lost};
  if (x.kind == Number::Class::infinite) return {1, Outcome::overflowed};
  if (x.kind == Number::Class::zero) return {0, Outcome::exact};
  const bool one = x.significand == kTopBit && x.exponent == 0 && !x.negative;
  return {1, one ? Outcome::exact : Outcome::inexact};
}

template <DType T>
constexpr Encoded encode(const Number& x, const CastPolicy& policy) {
  constexpr NumberKind kKind = dtype_rows::kRows[row_of(T)].kind;
  if constexpr (kKind == NumberKind::floating) return encode_float<T>(x, policy);
  if constexpr (kKind == NumberKind::boolean) return encode_boolean(x);
  return encode_integer<T>(x, policy);
}

// The value as a double, rounded to nearest even if 53 bits are not enough.
double to_double(const Number& x);

// |a - b| of two numbers that are finite or zero, with a single rounding to double.
double distance(const Number& a, const Number& b);

// Returns true for a finite number that is exactly a normal double.
constexpr bool is_plain_double(const Number& x) {
  return x.kind == Number::Class::finite && (x.significand & low_bits(11)) == 0 &&
         x.exponent >= -1022 && x.exponent <= 1023;
}

inline double plain_double(const Number& x) {
  const auto field = static_cast<std::uint64_t>(x.exponent + 1023) << 52;
  const std::uint64_t sign = x.negative ? kTopBit : 0;
  return std::bit_cast<double>(sign | field | (x.significand & ~kTopBit) >> 11);
}

}  // namespace number
}  // namespace btf
