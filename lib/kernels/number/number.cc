#include "kernels/number/number.h"

#include <cmath>
#include <limits>
#include <utility>

namespace btf::number {

double to_double(const Number& x) {
  const double sign = x.negative ? -1.0 : 1.0;
  switch (x.kind) {
    case Number::Class::zero:
      return x.negative ? -0.0 : 0.0;
    case Number::Class::infinite:
      return sign * std::numeric_limits<double>::infinity();
    case Number::Class::nan:
      return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    case Number::Class::finite:
      break;
  }
  return std::bit_cast<double>(encode<DType::float64>(x, CastPolicy{}).code);
}

double distance(const Number& a, const Number& b) {
  if (a.kind == Number::Class::zero) return std::abs(to_double(b));
  if (b.kind == Number::Class::zero) return std::abs(to_double(a));
  const auto [low, high] = a.exponent < b.exponent ? std::pair{a, b} : std::pair{b, a};
  const int apart = high.exponent - low.exponent;
  // If they are more than 63 binades apart, the smaller one only affects the rounding.
  if (apart > 63) return std::abs(to_double(a) - to_double(b));
  __extension__ using Wide = unsigned __int128;
  const Wide x = static_cast<Wide>(high.significand) << apart;
  const Wide y = static_cast<Wide>(low.significand);
  if (high.negative != low.negative)
    return std::ldexp(static_cast<double>(x + y), low.exponent - 63);
  return std::ldexp(static_cast<double>(x > y ? x - y : y - x), low.exponent - 63);
}

}  // namespace btf::number
