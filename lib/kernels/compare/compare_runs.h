// The loops of a comparison over runs of doubles, with the widest vectors that this CPU has. Every
// CPU computes the same.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/compare/compare.h"

namespace btf {

// What is known of a run of pairs.
struct RunSummary {
  double largest_error = 0;  // of pairs of finite numbers
  bool special = false;      // NaN or Inf is among them
  std::uint64_t refused = 0;
};

// Sums over pairs of finite numbers.
struct RunSums {
  double error = 0;  // actual - golden
  double error2 = 0;
  double actual2 = 0;
  double golden = 0;
  double golden2 = 0;
  double product = 0;
  double largest = 0;  // |golden|
};

struct CompareRuns {
  // Absolute errors, NaN where NaN or Inf is involved, and which pairs are refused: 1 or 0.
  RunSummary (*judge)(const double* actual, const double* golden, std::uint64_t count,
                      const Judge& judge, double* error, std::uint8_t* refused);
  // Of a run without NaN and Inf.
  RunSums (*sums)(const double* actual, const double* golden, std::uint64_t count);
  // The largest of error * (1 + 2^-50) - rtol * |golden|; NaN is passed over.
  double (*least_atol)(const double* error, const double* golden, std::uint64_t count, double rtol);
  // The largest of error / |golden| where `refused` is 1.
  double (*largest_relative)(const double* error, const double* golden, const std::uint8_t* refused,
                             std::uint64_t count);
};

// Those of the level in use (cpu_level.h).
const CompareRuns& compare_runs();

}  // namespace btf
