#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/cast/cast_reference.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace number {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Number special(Number::Class kind, bool negative) { return {0, 0, negative, kind}; }

// The upper 64 bits of a value whose top bit is bit 127 or 126; bit 0 is set if any lower bit is.
Number from_wide(bool negative, Wide value, int exponent) {
  if (value >> 127 == 0) {
    value <<= 1;
    --exponent;
  }
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return {high | (low != 0 ? 1U : 0U), exponent, negative, Number::Class::finite};
}

// |a / b| = (whole + less than 1 if there is a rest) * 2^exponent. Both top bits are set, so the
// quotient of the significands is in (1/2, 2) and `whole` has 65 or 66 bits: a bit more than any
// integer dtype, to detect halves.
struct Division {
  Wide whole = 0;
  bool rest = false;
  int exponent = 0;
};

Division divide(const Number& a, const Number& b) {
  const Wide dividend = static_cast<Wide>(a.significand) << 64;
  const Wide rest = dividend % b.significand << 1;
  const bool half = rest >= b.significand;
  return {dividend / b.significand << 1 | (half ? 1U : 0U), rest != (half ? b.significand : 0),
          a.exponent - b.exponent - 65};
}

}  // namespace

Number quotient(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (b.kind == Number::Class::nan) return special(Number::Class::nan, negative);
  if (a.kind != Number::Class::finite) return special(a.kind, negative);
  if (b.kind == Number::Class::zero) return special(Number::Class::zero, negative);
  const Division division = divide(a, b);
  return from_wide(negative, division.whole << 62 | (division.rest ? 1U : 0U),
                   division.exponent + 65);
}

Number product(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (b.kind == Number::Class::nan) return special(Number::Class::nan, negative);
  if (a.kind != Number::Class::finite) return special(a.kind, negative);
  if (b.kind == Number::Class::zero) return special(Number::Class::zero, negative);
  return from_wide(negative, static_cast<Wide>(a.significand) * b.significand,
                   a.exponent + b.exponent + 1);
}

// Returns true if product() has lost digits, because the product has more than 64 bits.
bool is_rounded(const Number& a, const Number& b) {
  const Wide product = static_cast<Wide>(a.significand) * b.significand;
  return static_cast<std::uint64_t>(product >> 127 == 0 ? product << 1 : product) != 0;
}

Number from_double(double value) {
  return decode<DType::float64>(std::bit_cast<std::uint64_t>(value));
}

// More than 64 bits are beyond every dtype, so Inf gives the same result.
Number from_integer(Integer value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<Wide>(negative ? -value : value);
  if (magnitude >> 64 != 0) return special(Number::Class::infinite, negative);
  return normalized(negative, static_cast<std::uint64_t>(magnitude), 0);
}

}  // namespace number

namespace {

constexpr std::uint64_t kChunk = 256;

bool is_real(const Number& x) {
  return x.kind == Number::Class::finite || x.kind == Number::Class::zero;
}

using number::from_integer;
using number::Integer;

Integer to_integer(const Number& x) {
  if (x.kind == Number::Class::zero) return 0;
  const Integer magnitude = x.significand >> (63 - x.exponent);
  return x.negative ? -magnitude : magnitude;
}

// kept + fraction / (2 * half), kept an integer, as an integer.
Integer rounded(number::Wide kept, number::Wide fraction, number::Wide half, bool negative,
                Rounding rounding) {
  bool up = false;
  switch (rounding) {
    case Rounding::by_table:
    case Rounding::nearest:
      up = fraction > half || (fraction == half && (kept & 1) != 0);
      break;
    case Rounding::zero:
      break;
    case Rounding::up:
      up = fraction != 0 && !negative;
      break;
    case Rounding::down:
      up = fraction != 0 && negative;
      break;
  }
  const auto magnitude = static_cast<Integer>(kept + (up ? 1U : 0U));
  return negative ? -magnitude : magnitude;
}

}  // namespace

// All 64 bits of the quotient may be needed here, so quotient() cannot be used: its last bit marks
// lost digits.
Number shifted_code(const Number& x, const Number& scale, const ScaledCast& cast) {
  // NaN becomes the code of 0.
  if (x.kind == Number::Class::nan || x.kind == Number::Class::zero)
    return from_integer(cast.zero_point);
  if (x.kind == Number::Class::infinite) return x;
  const number::Division division = number::divide(x, scale);
  if (division.exponent >= 0) return number::special(Number::Class::infinite, x.negative);
  const number::Wide value = division.whole << 1 | (division.rest ? 1U : 0U);
  // After a shift of more than 100, less than a half is left.
  const int shift = std::min(1 - division.exponent, 100);
  const number::Wide kept = value >> shift;
  const number::Wide half = static_cast<number::Wide>(1) << (shift - 1);
  return from_integer(
      rounded(kept, value - (kept << shift), half, x.negative, cast.policy.rounding) +
      cast.zero_point);
}

namespace {

Number scaled_down(const Number& x, const Number& scale, const ScaledCast& cast) {
  return info(cast.to).floating() ? number::quotient(x, scale) : shifted_code(x, scale, cast);
}

Number without_zero_point(const Number& code, std::int64_t zero_point) {
  if (zero_point == 0 || !is_real(code)) return code;
  return from_integer(to_integer(code) - zero_point);
}

}  // namespace

Number scaled_up(const Number& code, const Number& scale, std::int64_t zero_point) {
  return number::product(without_zero_point(code, zero_point), scale);
}

namespace {

// Adds the error of x compared with the number of its code.
void account_for(const Number& before, const Number& code, const Number& scale, bool overflowed,
                 LossAccount& account) {
  ++account.elements;
  if (before.kind == Number::Class::nan) {
    ++account.nan;
    account.nan_lost += code.kind == Number::Class::nan ? 0 : 1;
    return;
  }
  if (before.kind == Number::Class::infinite) {
    account.overflowed += code.kind == Number::Class::infinite ? 0 : 1;
    return;
  }
  const Number after = number::product(code, scale);
  const double error = is_real(after) ? number::distance(before, after) : 0;
  if (overflowed)
    ++account.overflowed;
  else if (before.kind == Number::Class::finite && after.kind == Number::Class::zero)
    ++account.to_zero;
  else if (error != 0 || number::is_rounded(code, scale))
    ++account.inexact;
  account.max_abs = std::max(account.max_abs, error);
  if (before.kind == Number::Class::finite && error != 0)
    account.max_rel = std::max(account.max_rel, error / number::distance(before, Number{}));
}

}  // namespace

void quantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                  std::byte* target, std::uint64_t n, LossAccount& account) {
  const std::uint64_t source_bytes = info(cast.from).buffer_bytes();
  const std::uint64_t target_bytes = info(cast.to).buffer_bytes();
  std::array<Number, kChunk> numbers;
  std::array<Number, kChunk> scaled;
  std::array<Number, kChunk> codes;
  for (std::uint64_t at = 0; at < n; at += kChunk) {
    const std::uint64_t count = std::min(kChunk, n - at);
    decoder(cast.from)(source + at * source_bytes, 1, count, numbers.data());
    for (std::uint64_t i = 0; i < count; ++i) scaled[i] = scaled_down(numbers[i], scale, cast);
    for (std::uint64_t i = 0; i < count; ++i) {
      LossAccount one;
      std::byte* element = target + (at + i) * target_bytes;
      encoder(cast.to)(&scaled[i], 1, element, 1, cast.policy, one);
      decoder(cast.to)(element, 1, 1, &codes[i]);
      account_for(numbers[i], without_zero_point(codes[i], cast.zero_point), scale,
                  one.overflowed != 0, account);
    }
  }
}

void dequantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                    std::byte* target, std::uint64_t n, LossAccount& account) {
  const std::uint64_t source_bytes = info(cast.from).buffer_bytes();
  const std::uint64_t target_bytes = info(cast.to).buffer_bytes();
  std::array<Number, kChunk> numbers;
  for (std::uint64_t at = 0; at < n; at += kChunk) {
    const std::uint64_t count = std::min(kChunk, n - at);
    decoder(cast.from)(source + at * source_bytes, 1, count, numbers.data());
    for (std::uint64_t i = 0; i < count; ++i)
      numbers[i] = scaled_up(numbers[i], scale, cast.zero_point);
    encoder(cast.to)(numbers.data(), count, target + at * target_bytes, 1, cast.policy, account);
  }
}

}  // namespace btf
