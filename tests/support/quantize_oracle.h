// What quantising and coming back must give and count, worked out from the formulas of
// docs/dtypes.md by exact comparison of products: no quotient is ever formed. Shares no code with
// the library.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "support/cast_oracle.h"

namespace btf::test {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

inline int bit_width(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

inline int trailing_zeros(Wide value) {
  const auto low = static_cast<std::uint64_t>(value);
  return low != 0 ? std::countr_zero(low)
                  : 64 + std::countr_zero(static_cast<std::uint64_t>(value >> 64));
}

// magnitude * 2^exponent, odd or 0.
struct Exact {
  Wide magnitude = 0;
  int exponent = 0;

  Exact(Wide m, int e) : magnitude(m), exponent(e) {
    if (magnitude == 0) return;
    exponent += trailing_zeros(magnitude);
    magnitude >>= trailing_zeros(magnitude);
  }

  // |x|, without rounding.
  static Exact of(long double x) {
    int exponent = 0;
    const long double fraction = std::frexp(std::abs(x), &exponent);
    return {static_cast<Wide>(std::ldexp(fraction, 64)), exponent - 64};
  }
};

inline Exact operator*(const Exact& a, const Exact& b) {
  if (bit_width(a.magnitude) + bit_width(b.magnitude) > 128)
    throw std::logic_error("a product of more than 128 bits");
  return {a.magnitude * b.magnitude, a.exponent + b.exponent};
}

inline std::strong_ordering operator<=>(const Exact& a, const Exact& b) {
  if (a.magnitude == 0 || b.magnitude == 0) return a.magnitude <=> b.magnitude;
  const int a_bits = bit_width(a.magnitude);
  const int b_bits = bit_width(b.magnitude);
  if (a_bits + a.exponent != b_bits + b.exponent)
    return a_bits + a.exponent <=> b_bits + b.exponent;
  return a.magnitude << (128 - a_bits) <=> b.magnitude << (128 - b_bits);
}

inline bool operator==(const Exact& a, const Exact& b) { return (a <=> b) == 0; }

inline std::uint64_t double_code(double value) { return std::bit_cast<std::uint64_t>(value); }

// What a float dtype makes of a double.
inline std::uint64_t float_code(DType to, double value, const CastPolicy& policy = {}) {
  return oracle_cast(DType::float64, to, double_code(value), policy).code;
}

// A magnitude's code with the sign of `side`, 1 or -1. Not every type has -0.
inline std::uint64_t signed_code(DType to, std::uint64_t code, double side) {
  if (code == 0) return float_code(to, std::copysign(0.0, side));
  return code | (float_code(to, side) ^ float_code(to, 1));
}

inline bool is_float(DType dtype) {
  return oracle_cast(DType::float64, dtype, double_code(0.5), {}).loss == Loss::none;
}

// The codes of the positive numbers of a float, by size.
class Magnitudes {
 public:
  explicit Magnitudes(DType dtype) : dtype_(dtype) {
    largest_ = float_code(dtype, INFINITY);
    if (std::isinf(oracle_value(dtype, largest_))) --largest_;
  }

  std::uint64_t largest() const { return largest_; }

  // Of one code beyond the largest too: what would follow if the exponent had no limit.
  long double value(std::uint64_t code) const {
    if (code <= largest_) return oracle_value(dtype_, code);
    return 2 * oracle_value(dtype_, largest_) - oracle_value(dtype_, largest_ - 1);
  }

  // The code whose value times the scale is nearest to x, ties to even; beyond the largest if that
  // is nearer.
  std::uint64_t nearest(const Exact& x, const Exact& scale) const {
    std::uint64_t low = 0;
    std::uint64_t high = largest_ + 2;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (Exact::of(value(middle)) * scale <= x ? low : high) = middle;
    }
    if (low > largest_) return low;
    const Exact twice{x.magnitude, x.exponent + 1};
    const auto order = twice <=> Exact::of(value(low) + value(low + 1)) * scale;
    return low + (order > 0 || (order == 0 && low % 2 == 1) ? 1 : 0);
  }

 private:
  DType dtype_;
  std::uint64_t largest_ = 0;
};

struct IntegerLimits {
  SignedWide least = 0;
  SignedWide largest = 0;
  std::uint64_t mask = 0;

  explicit IntegerLimits(DType dtype) {
    const auto limit = [&](double x) {
      return static_cast<SignedWide>(
          oracle_value(dtype, oracle_cast(DType::float64, dtype, double_code(x), {}).code));
    };
    least = limit(-INFINITY);
    largest = limit(INFINITY);
    mask = static_cast<std::uint64_t>(largest - least);
  }
};

inline bool round_away(std::strong_ordering to_half, bool odd, bool exact, bool negative,
                       Rounding rounding) {
  if (exact || rounding == Rounding::zero) return false;
  if (rounding == Rounding::up) return !negative;
  if (rounding == Rounding::down) return negative;
  return to_half > 0 || (to_half == 0 && odd);
}

template <typename Of>
const Of& known(DType dtype) {
  static std::map<DType, Of> all;
  return all.try_emplace(dtype, dtype).first->second;
}

// round(|x| / scale) with the sign of x; nothing if that is 2^66 or more.
inline std::optional<SignedWide> oracle_quotient(long double x, const Exact& scale,
                                                 Rounding rounding) {
  const Exact size = Exact::of(x);
  if (size >= Exact{1, 66} * scale) return std::nullopt;
  Wide low = 0;
  const int bits =
      bit_width(size.magnitude) + size.exponent - bit_width(scale.magnitude) - scale.exponent + 1;
  for (int bit = std::min(bits, 65); bit >= 0; --bit)
    if (Exact{low | Wide{1} << bit, 0} * scale <= size) low |= Wide{1} << bit;
  const bool exact = Exact{low, 0} * scale == size;
  const auto to_half = Exact{size.magnitude, size.exponent + 1} <=> Exact{2 * low + 1, 0} * scale;
  const bool negative = std::signbit(x);
  const auto result = static_cast<SignedWide>(
      low + (round_away(to_half, low % 2 == 1, exact, negative, rounding) ? 1 : 0));
  return negative ? -result : result;
}

inline OracleCast quantize_to_integer(DType to, long double x, long double scale,
                                      std::int64_t zero_point, Rounding rounding) {
  const auto& limits = known<IntegerLimits>(to);
  const auto code = [&](SignedWide q) { return static_cast<std::uint64_t>(q) & limits.mask; };
  if (std::isnan(x)) return {code(zero_point), Loss::nan_lost};
  const SignedWide beyond = x < 0 ? limits.least : limits.largest;
  if (std::isinf(x)) return {code(beyond), Loss::overflowed};
  const Exact step = Exact::of(scale);
  const auto rounded = oracle_quotient(x, step, rounding);
  if (!rounded) return {code(beyond), Loss::overflowed};
  const SignedWide q = *rounded + zero_point;
  if (q < limits.least || q > limits.largest)
    return {code(q < 0 ? limits.least : limits.largest), Loss::overflowed};
  const auto size = static_cast<Wide>(*rounded < 0 ? -*rounded : *rounded);
  if (Exact{size, 0} * step == Exact::of(x)) return {code(q), Loss::none};
  return {code(q), *rounded == 0 ? Loss::to_zero : Loss::inexact};
}

inline OracleCast quantize_to_float(DType to, long double x, long double scale,
                                    const CastPolicy& policy) {
  const double side = std::signbit(x) ? -1 : 1;
  if (!std::isfinite(x))
    return oracle_cast(DType::float64, to, double_code(static_cast<double>(x)), policy);
  if (scale == 0) return {signed_code(to, 0, side), x == 0 ? Loss::none : Loss::to_zero};
  const auto& magnitudes = known<Magnitudes>(to);
  const Exact step = Exact::of(scale);
  const std::uint64_t code = magnitudes.nearest(Exact::of(x), step);
  if (code > magnitudes.largest())
    return {float_code(to, side * INFINITY, policy), Loss::overflowed};
  const std::uint64_t result = signed_code(to, code, side);
  if (Exact::of(magnitudes.value(code)) * step == Exact::of(x)) return {result, Loss::none};
  return {result, code == 0 ? Loss::to_zero : Loss::inexact};
}

inline OracleCast oracle_quantize(DType from, DType to, std::uint64_t code, long double scale,
                                  std::int64_t zero_point = 0, const CastPolicy& policy = {}) {
  const long double x = oracle_value(from, code);
  if (is_float(to)) return quantize_to_float(to, x, scale, policy);
  return quantize_to_integer(to, x, scale, zero_point, policy.rounding);
}

struct OracleFit {
  float scale = 1;
  std::int64_t zero_point = 0;
};

// The scale, and the zero point if none is given, of numbers from least <= 0 to largest >= 0, whose
// difference a long double holds; nothing where they cannot fit. Exact products are compared.
inline std::optional<OracleFit> oracle_fit(DType to, long double least, long double largest,
                                           std::optional<std::int64_t> given) {
  const auto& limits = known<IntegerLimits>(to);
  const auto& floats = known<Magnitudes>(DType::float32);
  const auto ratio = [&](long double width, SignedWide codes) {
    return floats.nearest(Exact::of(width), {static_cast<Wide>(codes), 0});
  };
  if (least == 0 && largest == 0) return OracleFit{1, given.value_or(0)};
  std::uint64_t code = 0;
  if (given) {
    if (largest > 0 && *given == limits.largest) return std::nullopt;
    if (least < 0 && *given == limits.least) return std::nullopt;
    if (largest > 0) code = ratio(largest, limits.largest - *given);
    if (least < 0) code = std::max(code, ratio(least, *given - limits.least));
  } else {
    code = ratio(largest - least, limits.largest - limits.least);
  }
  for (code = std::max<std::uint64_t>(code, 1); code <= floats.largest(); ++code) {
    const auto scale = static_cast<float>(oracle_value(DType::float32, code));
    const auto steps = [&](long double x) {
      return oracle_quotient(x, Exact::of(scale), Rounding::nearest);
    };
    const auto down = steps(least);
    const auto up = steps(largest);
    if (!down || !up) continue;
    const SignedWide zero = given ? SignedWide{*given} : limits.least - *down;
    if (zero + *down >= limits.least && zero + *up <= limits.largest && zero <= limits.largest)
      return OracleFit{scale, static_cast<std::int64_t>(zero)};
  }
  return std::nullopt;
}

// To a float of 16 bits or more.
inline OracleCast oracle_dequantize(DType from, DType to, std::uint64_t code, long double scale,
                                    std::int64_t zero_point = 0) {
  const long double value = oracle_value(from, code);
  if (!std::isfinite(value) || std::isnan(scale)) {
    const double x = std::isnan(scale) ? NAN : static_cast<double>(value);
    return {float_code(to, std::copysign(x, std::signbit(value) ? -1.0 : 1.0)), Loss::none};
  }
  SignedWide shifted = 0;
  if (!is_float(from)) shifted = static_cast<SignedWide>(value) - zero_point;
  const bool negative = is_float(from) ? std::signbit(value) : shifted < 0;
  const Exact size = is_float(from) ? Exact::of(value)
                                    : Exact{static_cast<Wide>(negative ? -shifted : shifted), 0};
  const double side = negative ? -1 : 1;
  const std::uint64_t zero = float_code(to, std::copysign(0.0, side));
  const Exact product = size * Exact::of(scale);
  const auto& magnitudes = known<Magnitudes>(to);
  const std::uint64_t result = magnitudes.nearest(product, {1, 0});
  if (result > magnitudes.largest()) return {float_code(to, side * INFINITY), Loss::overflowed};
  if (Exact::of(magnitudes.value(result)) == product) return {zero | result, Loss::none};
  return {zero | result, result == 0 ? Loss::to_zero : Loss::inexact};
}

}  // namespace btf::test
