#include "kernels/scaled_cast.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/cast_reference.h"

namespace btf {
namespace number {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Number special(Number::Class kind, bool negative) { return {0, 0, negative, kind}; }

// The upper 64 bits of a value whose top bit is bit 127 or 126; what is below sticks to bit 0.
Number from_wide(bool negative, Wide value, int exponent) {
  if (value >> 127 == 0) {
    value <<= 1;
    --exponent;
  }
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return {high | (low != 0 ? 1U : 0U), exponent, negative, Number::Class::finite};
}

}  // namespace

Number quotient(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (b.kind == Number::Class::nan) return special(Number::Class::nan, negative);
  if (a.kind != Number::Class::finite) return special(a.kind, negative);
  if (b.kind == Number::Class::zero) return special(Number::Class::zero, negative);
  // Both top bits are set, so the quotient of the significands lies in (1/2, 2) and has 63 or 64
  // bits before the rest.
  const Wide dividend = static_cast<Wide>(a.significand) << 63;
  const Wide whole = dividend / b.significand;
  const bool rest = dividend % b.significand != 0;
  return from_wide(negative, whole << 64 | (rest ? 1U : 0U), a.exponent - b.exponent);
}

Number product(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (b.kind == Number::Class::nan) return special(Number::Class::nan, negative);
  if (a.kind != Number::Class::finite) return special(a.kind, negative);
  if (b.kind == Number::Class::zero) return special(Number::Class::zero, negative);
  return from_wide(negative, static_cast<Wide>(a.significand) * b.significand,
                   a.exponent + b.exponent + 1);
}

Number from_double(double value) {
  return decode<DType::float64>(std::bit_cast<std::uint64_t>(value));
}

}  // namespace number

namespace {

constexpr std::uint64_t kChunk = 256;

bool is_real(const Number& x) {
  return x.kind == Number::Class::finite || x.kind == Number::Class::zero;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

Number from_integer(std::int64_t value) {
  return number::decode<DType::int64>(static_cast<std::uint64_t>(value));
}

// The nearest integer, with the zero point added, unless it is beyond any integer dtype anyway.
Number shifted(const Number& x, const ScaledCast& cast) {
  if (x.kind == Number::Class::infinite || x.exponent > 62) return x;
  CastPolicy policy;
  policy.rounding =
      cast.policy.rounding == Rounding::by_table ? Rounding::nearest : cast.policy.rounding;
  const auto integer =
      static_cast<std::int64_t>(number::encode<DType::int64>(x, policy).code);
  return from_integer(saturating_add(integer, cast.zero_point));
}

// NaN has no integer: it becomes the code of 0.
Number scaled_down(const Number& x, const Number& scale, const ScaledCast& cast) {
  const Number y = number::quotient(x, scale);
  if (info(cast.to).floating()) return y;
  return shifted(x.kind == Number::Class::nan ? Number{} : y, cast);
}

Number scaled_up(const Number& code, const Number& scale, std::int64_t zero_point) {
  if (zero_point == 0 || !is_real(code)) return number::product(code, scale);
  const auto integer = static_cast<std::int64_t>(
      number::encode<DType::int64>(code, CastPolicy{}).code);
  return number::product(from_integer(saturating_add(integer, -zero_point)), scale);
}

void account_for(const Number& before, const Number& after, bool overflowed,
                 LossAccount& account) {
  ++account.elements;
  if (before.kind == Number::Class::nan) {
    ++account.nan;
    account.nan_lost += after.kind == Number::Class::nan ? 0 : 1;
    return;
  }
  if (before.kind == Number::Class::infinite) {
    account.overflowed += after.kind == Number::Class::infinite ? 0 : 1;
    return;
  }
  const double error = is_real(after) ? number::distance(before, after) : 0;
  if (overflowed)
    ++account.overflowed;
  else if (before.kind == Number::Class::finite && after.kind == Number::Class::zero)
    ++account.to_zero;
  else if (error != 0)
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
      account_for(numbers[i], scaled_up(codes[i], scale, cast.zero_point), one.overflowed != 0,
                  account);
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
