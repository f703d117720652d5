// The errors of codes with a scale: without the codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/narrow/narrowing.h"

namespace btf {

// The errors of finite numbers; others count for nothing.
struct ScalingErrors {
  double squares = 0;         // the sum of (code * scale - number)^2
  std::uint64_t clipped = 0;  // beyond the last code
  std::uint64_t lost = 0;     // not zero, became zero

  void add(const ScalingErrors& other) {
    squares += other.squares;
    clipped += other.clipped;
    lost += other.lost;
  }
};

// Codes of 8 bits or fewer that are clamped and rounded to nearest, and scales above zero that are
// floats: then quotients of floats are rounded as exact ones would be. Every CPU computes the same.
ScalingErrors scaling_errors(const Narrowing& to, const double* numbers, std::size_t count,
                             double scale);

// The same with a scale for each number.
ScalingErrors scaling_errors_each(const Narrowing& to, const double* numbers, std::size_t count,
                                  const double* scales);

// The Narrowing of such codes.
Narrowing scaled_codes(DType to);

}  // namespace btf
