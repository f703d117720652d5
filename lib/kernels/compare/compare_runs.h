// Sums over runs of doubles, with the widest vectors that this CPU has. Every CPU computes the
// same.
#pragma once

#include <cmath>
#include <cstdint>

namespace btf {

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

// May a sum of squares be computed in doubles? Below this they lose digits; beyond the largest
// double they are Inf.
inline bool has_exact_squares(double sum) { return sum > 1e-280 && std::isfinite(sum); }

struct CompareRuns {
  // Of a run without NaN and Inf.
  RunSums (*sums)(const double* actual, const double* golden, std::uint64_t count);
  // The largest of left_to_accept(); NaN is passed over.
  double (*least_atol)(const double* error, const double* golden, std::uint64_t count, double rtol);
};

// Those of the level in use (cpu_level.h).
const CompareRuns& compare_runs();

// What rtol leaves of an error to be accepted by atol. The margin is more than accepting can lose
// to its roundings.
inline double left_to_accept(double error, double golden, double rtol) {
  return error * (1 + 0x1p-50) - rtol * std::abs(golden);
}

}  // namespace btf
