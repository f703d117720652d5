// Representable steps: a real number's position on the line of a dtype's values. Between two
// neighbouring values it is rounded, ties to even; above the largest the steps go on as if the
// exponent had no end. -0 and 0 are one position.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "btf/dtype.h"

namespace btf {

struct StepGrid {
  bool integer = false;  // steps of 1, without end
  int precision = 53;    // significant bits, the leading one included
  int least_exponent = -1022;

  bool operator==(const StepGrid&) const = default;
};

// Of the coarser of both dtypes: the one whose values the other has too, else the one with fewer
// significant bits.
StepGrid step_grid(DType a, DType b);

namespace steps {

inline std::int64_t magnitude_position(double magnitude, const StepGrid& grid) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  if (grid.precision == 53) return static_cast<std::int64_t>(bits);
  const int drop = 53 - grid.precision;
  const std::uint64_t odd = bits >> drop & 1;
  const std::uint64_t rounded = (bits + (std::uint64_t{1} << (drop - 1)) - 1 + odd) >> drop;
  const auto base = static_cast<std::uint64_t>(grid.least_exponent + 1022) << (grid.precision - 1);
  if (bits >> 52 >= static_cast<std::uint64_t>(grid.least_exponent + 1023))
    return static_cast<std::int64_t>(rounded - base);
  // Adding 2^52 leaves the rounded integer in the low bits.
  const auto scale = std::bit_cast<double>(
      static_cast<std::uint64_t>(grid.precision - 1 - grid.least_exponent + 1023) << 52);
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude * scale + 0x1p52) &
                                   ((std::uint64_t{1} << 52) - 1));
}

inline std::int64_t magnitude_position(long double magnitude, const StepGrid& grid) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), grid.least_exponent);
  const long double mantissa = std::nearbyint(std::ldexp(magnitude, grid.precision - 1 - exponent));
  return (static_cast<std::int64_t>(exponent - grid.least_exponent) << (grid.precision - 1)) +
         static_cast<std::int64_t>(mantissa);
}

}  // namespace steps

// Of finite numbers; the most that fits if there are more.
template <typename Real>
std::uint64_t steps_between(Real a, Real b, const StepGrid& grid) {
  if (grid.integer) {
    const Real distance = std::abs(std::nearbyint(a) - std::nearbyint(b));
    return distance < static_cast<Real>(0x1p64) ? static_cast<std::uint64_t>(distance) : UINT64_MAX;
  }
  const auto position = [&](Real x) {
    const std::int64_t at = steps::magnitude_position(std::abs(x), grid);
    return std::signbit(x) ? -at : at;
  };
  const std::int64_t low = position(a);
  const std::int64_t high = position(b);
  return low < high ? static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)
                    : static_cast<std::uint64_t>(low) - static_cast<std::uint64_t>(high);
}

}  // namespace btf
