// Sums of values of any dtype without rounding, as digits of 32 bits that carry only when they are
// looked at, and what a cast makes of them by exact comparison. Shares no code with the library.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "support/cast_oracle.h"
#include "support/quantize_oracle.h"

namespace btf::test {

class DigitSum {
 public:
  // times * value, which is finite.
  void add(long double value, int times = 1) {
    int exponent = 0;
    const long double fraction = std::frexp(std::abs(value), &exponent);
    auto mantissa = static_cast<Wide>(std::ldexp(fraction, 64));
    const int place = exponent - 64 + kPoint;
    mantissa <<= place % 32;
    const int sign = (std::signbit(value) ? -1 : 1) * times;
    for (int i = 0; i < 4; ++i, mantissa >>= 32)
      digits_[static_cast<std::size_t>(place / 32 + i)] +=
          sign * static_cast<std::int64_t>(static_cast<std::uint32_t>(mantissa));
  }

  int sign() const {
    auto digits = digits_;
    std::int64_t carry = 0;
    bool any = false;
    for (std::int64_t& digit : digits) {
      const std::int64_t sum = digit + carry;
      carry = sum >> 32;
      digit = sum - carry * (std::int64_t{1} << 32);
      any = any || digit != 0;
    }
    return carry < 0 ? -1 : any || carry > 0 ? 1 : 0;
  }

  // How it stands to a finite value.
  int compare(long double value) const {
    DigitSum difference = *this;
    difference.add(value, -1);
    return difference.sign();
  }

 private:
  static constexpr int kPoint = 1216;  // a multiple of 32
  std::array<std::int64_t, 80> digits_{};
};

// Added up and cast once; an account of one element.
inline OracleCast oracle_sum(DType from, DType to, std::span<const std::uint64_t> codes) {
  DigitSum sum;
  double special = 0;
  bool negative_zeros = true;
  for (const std::uint64_t code : codes) {
    const long double value = oracle_value(from, code);
    if (!std::isfinite(value))
      special += static_cast<double>(value);
    else
      sum.add(value);
    negative_zeros = negative_zeros && value == 0 && std::signbit(value);
  }
  const CastPolicy policy;
  if (special != 0)  // true of NaN too
    return oracle_cast(DType::float64, to,
                       double_code(std::isnan(special) ? std::nan("") : special), policy);
  if (sum.sign() == 0)
    return oracle_cast(DType::float64, to, double_code(negative_zeros ? -0.0 : 0.0), policy);
  if (to == DType::float8_e8m0fnu) {
    // Up to the next power of two; sums of a type without a sign have none either.
    for (std::uint64_t code = 0; code < 0xff; ++code)
      if (const int order = sum.compare(oracle_value(to, code)); order <= 0)
        return {code, order == 0 ? Loss::none : Loss::inexact};
    return {0xfe, Loss::overflowed};
  }
  if (is_float(to)) {
    // The nearest magnitude, ties to even: between two codes, twice the sum against their sum.
    const auto& magnitudes = known<Magnitudes>(to);
    const int side = sum.sign();
    const auto above = [&](long double value) { return side * sum.compare(side * value) > 0; };
    std::uint64_t low = 0;
    std::uint64_t high = magnitudes.largest() + 1;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (above(magnitudes.value(middle)) || sum.compare(side * magnitudes.value(middle)) == 0
           ? low
           : high) = middle;
    }
    DigitSum twice = sum;
    for (const std::uint64_t code : codes) twice.add(oracle_value(from, code));
    twice.add(side * magnitudes.value(low), -1);
    const long double next = magnitudes.value(low + 1);
    const int order = side * twice.compare(side * next);
    const bool exact = sum.compare(side * magnitudes.value(low)) == 0;
    const std::uint64_t code = low + (order > 0 || (order == 0 && low % 2 == 1) ? 1 : 0);
    if (code > magnitudes.largest())
      return {float_code(to, std::copysign(INFINITY, side), policy), Loss::overflowed};
    const std::uint64_t result = signed_code(to, code, side);
    if (exact) return {result, Loss::none};
    return {result, code == 0 ? Loss::to_zero : Loss::inexact};
  }
  if (to == DType::boolean)
    return {1, sum.compare(1) == 0 ? Loss::none : Loss::inexact};
  // Toward zero, clamped.
  const auto& limits = known<IntegerLimits>(to);
  if (sum.compare(static_cast<long double>(limits.largest) + 1) >= 0)
    return {static_cast<std::uint64_t>(limits.largest) & limits.mask, Loss::overflowed};
  if (sum.compare(static_cast<long double>(limits.least) - 1) <= 0)
    return {static_cast<std::uint64_t>(limits.least) & limits.mask, Loss::overflowed};
  SignedWide low = limits.least - 1;
  SignedWide high = limits.largest + 1;
  while (high - low > 1) {  // low <= sum < high
    const SignedWide middle = low + (high - low) / 2;
    (sum.compare(static_cast<long double>(middle)) >= 0 ? low : high) = middle;
  }
  const bool exact = sum.compare(static_cast<long double>(low)) == 0;
  const SignedWide whole = low + (!exact && sum.sign() < 0 ? 1 : 0);
  const auto code = static_cast<std::uint64_t>(whole) & limits.mask;
  if (exact) return {code, Loss::none};
  return {code, whole == 0 ? Loss::to_zero : Loss::inexact};
}

}  // namespace btf::test
