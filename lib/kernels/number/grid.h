// The grid of representable numbers of one side of a comparison: its steps and its range.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/dtype.h"

namespace btf {

// The relative error of float32 arithmetic between a number and its code: the scale, the quotient
// and the product are rounded, each by at most 2^-24.
inline constexpr double kScaleArithmetic = 3e-7;

struct Grid {
  DType dtype{};        // of the elements, or of the codes
  bool codes = false;   // the elements are codes with a scale
  unsigned digits = 0;  // significant digits of floats that were read from text; otherwise 0
  bool fixed = false;   // `digits` counts those after the decimal point
  // The scales of codes: a single one, or one for each index of a dim or for each box; empty if
  // they are unknown. They must outlive the grid.
  std::span<const double> scales{};
  std::span<const std::int64_t> zero_points{};  // one for each scale; empty if all are 0
  std::uint64_t stride = 1;                     // of that dim in row-major order
  // For boxes: the dims of the codes, the number of indices of each that share a scale, and the
  // dims of the scales.
  struct Boxes {
    std::span<const std::uint64_t> dims{};
    std::span<const std::uint64_t> block{};
    std::span<const std::uint64_t> scales{};
  };
  Boxes boxes{};

  // The scale of codes; 0 if they have several. Unset if the elements are not codes.
  std::optional<double> scale() const;
  bool integers() const { return !codes && !info(dtype).floating(); }
  bool text() const { return !codes && digits > 0; }

  // Half a step if it is the same everywhere, as for integers with a single scale.
  std::optional<double> even_half_step() const;

  // Half the step between these two numbers at the row-major index `number`; the smallest one if
  // the step changes between them. A number is within this distance of its rounded value, and the
  // next grid point is not.
  double half_step(double a, double b, std::uint64_t number) const;

  // Returns true if numbers beyond the range become the last number of the grid, not Inf.
  bool saturates() const;
  // Returns true if `own` is the last number of the grid and `other` is beyond it.
  template <typename Real>
  bool saturated(Real own, Real other, std::uint64_t number) const {
    const Ends ends = ends_at(number);
    return (own >= static_cast<Real>(ends.highest) && other > own) ||
           (own <= static_cast<Real>(ends.lowest) && other < own);
  }

 private:
  struct Ends {
    long double lowest = 0;
    long double highest = 0;
  };
  Ends ends_at(std::uint64_t number) const;
  std::size_t index_at(std::uint64_t number) const;
};

}  // namespace btf
