// Sums over runs of numbers, and over runs of pairs. Every CPU computes the same.
#pragma once

#include <cstdint>

namespace btf {

struct SideSums {
  double sum = 0;
  double square = 0;
  double largest = 0;      // magnitude
  std::uint64_t bits = 0;  // all bits of significands that are set somewhere, but the leading
};

struct ErrorSums {
  double error = 0;  // actual - golden
  double square = 0;
  double product = 0;  // error * golden
  double largest = 0;  // |error|
  std::uint64_t equal = 0;
  std::uint64_t at_limit = 0;  // |actual| >= limit > |golden|
};

// All of it but the sums of actual, which follow from the others.
struct PairSums {
  ErrorSums errors{};  // without at_limit
  SideSums golden{};
  double actual_largest = 0;
  std::uint64_t actual_bits = 0;
};

// Real is float or double; floats give what they give as doubles.
template <typename Real>
struct ErrorRuns {
  // Also of what is not finite: a sum is not either then.
  PairSums (*pairs)(const Real* actual, const Real* golden, std::uint64_t count);
  SideSums (*side)(const Real* values, std::uint64_t count);
  ErrorSums (*errors)(const Real* actual, const Real* golden, std::uint64_t count, double limit);
  // Adds the squares of errors and of golden, place by place.
  void (*squares)(const Real* actual, const Real* golden, std::uint64_t count, double* error2,
                  double* golden2);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ErrorRuns<Real>& error_runs();

}  // namespace btf
