// The grid of one side of a comparison: its numbers, half a step between them, and its range.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/dtype.h"

namespace btf {

// The error of float32 arithmetic between a number and its code: the scale, the quotient and the
// product are rounded, each by 2^-24 at most.
inline constexpr double kScaleArithmetic = 3e-7;

struct Grid {
  DType dtype{};        // of the elements, or of the codes
  bool codes = false;   // by a scale
  unsigned digits = 0;  // significant, of floats that are made of text; 0: they are not
  bool fixed = false;   // the digits are those behind the point
  // Scales of codes: one, or one for each index of a dim or each box; they outlive the grid.
  // Empty: unknown.
  std::span<const double> scales{};
  std::span<const std::int64_t> zero_points{};  // one for each scale, or none: they are 0
  std::uint64_t stride = 1;                     // of that dim in row-major order
  // Boxes: the dims of the codes, how many indices of each share a scale, the dims of the scales.
  struct Boxes {
    std::span<const std::uint64_t> dims{};
    std::span<const std::uint64_t> block{};
    std::span<const std::uint64_t> scales{};
  };
  Boxes boxes{};

  // The scale of codes; 0 if they have several. Nothing: they are no codes.
  std::optional<double> scale() const;
  bool integers() const { return !codes && !info(dtype).floating(); }
  bool text() const { return !codes && digits > 0; }

  // Half a step, if it is one everywhere: of integers by one scale.
  std::optional<double> even_half_step() const;

  // Half the step between these two numbers at row-major index `number`, finest where it changes
  // between them: a number that is rounded to the grid is within it, and no further step is.
  double half_step(double a, double b, std::uint64_t number) const;

  // For integers and floats that become no Inf: can codes stand for numbers beyond the range?
  bool saturates() const;
  // Is `own` the last number on the grid, and `other` beyond it?
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
