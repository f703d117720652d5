// What is summed up over runs of finite numbers, and over pairs of these. Every CPU computes the
// same.
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

struct ErrorRuns {
  // Are all of them finite, and no golden one as low as `mask`?
  bool (*plain)(const double* actual, const double* golden, std::uint64_t count, double mask);
  SideSums (*side)(const double* values, std::uint64_t count);
  ErrorSums (*errors)(const double* actual, const double* golden, std::uint64_t count,
                      double limit);
  // Adds the squares of errors and of golden, place by place.
  void (*squares)(const double* actual, const double* golden, std::uint64_t count, double* error2,
                  double* golden2);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
const ErrorRuns& error_runs();

}  // namespace btf
