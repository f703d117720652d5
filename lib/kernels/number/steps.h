// Representable steps: a real number's position among the values of a dtype. Between two adjacent
// values it is rounded, ties to even; above the largest value the steps continue as if the exponent
// were unlimited. -0 and 0 have the same position.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "btf/dtype.h"

namespace btf {

// The values, and constants that compute the position of a double without branches.
struct StepGrid {
  bool integer = false;  // all steps have the same size, without limits
  double unit = 1;       // that size
  int precision = 53;    // significant bits, including the leading one
  int least_exponent = -1022;

  int drop = 0;                   // bits of a double's mantissa that are rounded away
  std::uint64_t half = 0;         // a little less than half a step, in these bits
  std::uint64_t odd = 0;          // 1 if there are such bits
  std::uint64_t base = 0;         // shifted bits of the least normal number, minus its position
  std::uint64_t normal_from = 0;  // bits of the least normal number
  double small_scale = 0;         // factor from smaller numbers to steps

  static StepGrid integers(double unit = 1) { return {.integer = true, .unit = unit}; }
  static StepGrid floats(int precision, int least_exponent);
};

// The grid of the coarser dtype: the one whose values the other can represent, otherwise the one
// with fewer significant bits, otherwise the one whose least normal number is larger.
StepGrid step_grid(DType a, DType b);

namespace steps {

// `bits` of a double without its sign.
inline std::uint64_t magnitude_position(std::uint64_t bits, const StepGrid& grid) {
  const std::uint64_t odd = ((bits >> grid.drop) - grid.base) & grid.odd;
  const std::uint64_t normal = ((bits + grid.half + odd) >> grid.drop) - grid.base;
  // Adding 2^52 leaves the rounded integer in the low bits.
  const std::uint64_t small =
      std::bit_cast<std::uint64_t>(std::bit_cast<double>(bits) * grid.small_scale + 0x1p52) &
      0x000fffffffffffff;
  return bits >= grid.normal_from ? normal : small;
}

// Signed, in two's complement.
inline std::uint64_t position(double x, const StepGrid& grid) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t negative = 0 - (bits >> 63);
  return (magnitude_position(bits & 0x7fffffffffffffff, grid) ^ negative) - negative;
}

inline std::uint64_t position(long double x, const StepGrid& grid) {
  if (x == 0) return 0;
  const long double magnitude = std::abs(x);
  const int exponent = std::max(std::ilogb(magnitude), grid.least_exponent);
  const long double scaled = std::ldexp(magnitude, grid.precision - 1 - exponent);
  const auto whole = static_cast<std::uint64_t>(scaled);
  const long double rest = scaled - static_cast<long double>(whole);
  const std::uint64_t below =
      (static_cast<std::uint64_t>(exponent - grid.least_exponent) << (grid.precision - 1)) + whole;
  const std::uint64_t place = below + (rest > 0.5L || (rest == 0.5L && below % 2 != 0) ? 1 : 0);
  return std::signbit(x) ? 0 - place : place;
}

}  // namespace steps

// The steps between finite numbers, clamped to the largest count.
template <typename Real>
std::uint64_t steps_between(Real a, Real b, const StepGrid& grid) {
  if (grid.integer) {
    const Real unit = static_cast<Real>(grid.unit);
    const Real distance = std::abs(std::nearbyint(a / unit) - std::nearbyint(b / unit));
    // A larger distance may have been rounded.
    if constexpr (std::is_same_v<Real, double>)
      if (distance > 0x1p53)
        return steps_between(static_cast<long double>(a), static_cast<long double>(b), grid);
    return distance < static_cast<Real>(0x1p64) ? static_cast<std::uint64_t>(distance) : UINT64_MAX;
  }
  const auto low = static_cast<std::int64_t>(steps::position(a, grid));
  const auto high = static_cast<std::int64_t>(steps::position(b, grid));
  const auto distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return low < high ? distance : 0 - distance;
}

}  // namespace btf
