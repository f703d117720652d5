// A run of numbers, and what rounding them to a narrow floating type does: without the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

struct RoundingTo {
  double least = 0;   // the type's smallest normal number, a power of 2
  double factor = 0;  // 1.5 * 2^d, for d bits fewer of the significand than a double has
  double limit = 0;   // of magnitudes
};

struct RoundingSums {
  bool within = true;  // no magnitude is above the limit, and none is no number: else nothing holds
  double largest = 0;  // magnitudes
  double smallest = 0;       // above zero; Inf: all are zero
  double squares = 0;        // their sum
  double error_squares = 0;  // of (rounded - number)
  std::uint64_t lost = 0;    // not zero, and rounded to zero
};

// To nearest, ties to even. Every CPU computes the same.
RoundingSums rounding_sums(const RoundingTo& to, const double* numbers, std::size_t count);

}  // namespace btf
