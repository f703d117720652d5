// Sums over runs of doubles, with the widest vectors that this CPU has. Every CPU computes the
// same.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cpu/cpu_level.h"

namespace btf {

// Sums over pairs of finite numbers, in doubles, in lanes of them, or compensated.
template <typename Sum>
struct FigureSums {
  Sum error{};  // actual - golden
  Sum abs_error{};
  Sum error2{};
  Sum actual2{};
  Sum golden{};
  Sum golden2{};
  Sum product{};

  // add(sum, term): each sum, and what the pair adds to it.
  template <typename Real>
  BTF_INLINE void add_pair(Real a, Real g, auto&& add) {
    add(error, a - g);
    add(abs_error, std::abs(a - g));
    add(error2, (a - g) * (a - g));
    add(actual2, a * a);
    add(golden, g);
    add(golden2, g * g);
    add(product, a * g);
  }

  // add(sum, other's): each sum, and the same one of another.
  template <typename Other>
  BTF_INLINE void add_sums(const FigureSums<Other>& other, auto&& add) {
    add(error, other.error);
    add(abs_error, other.abs_error);
    add(error2, other.error2);
    add(actual2, other.actual2);
    add(golden, other.golden);
    add(golden2, other.golden2);
    add(product, other.product);
  }
};

struct RunSums : FigureSums<double> {
  double largest = 0;  // |golden|
};

// May a sum of squares be computed in doubles? Below this they lose digits; beyond the largest
// double they are Inf.
inline bool has_exact_squares(double sum) { return sum > 1e-280 && std::isfinite(sum); }

struct CompareRuns {
  // The sums of a run without NaN and Inf.
  RunSums (*sums)(const double* actual, const double* golden, std::uint64_t count);
  // The largest of left_to_accept(); NaN is ignored.
  double (*least_atol)(const double* error, const double* golden, std::uint64_t count, double rtol);
  // Is no magnitude larger? NaN is.
  bool (*within)(const double* values, std::uint64_t count, double most);
};

// Those of the level in use (cpu_level.h).
const CompareRuns& compare_runs();

// The part of an error that rtol leaves to atol. The margin is more than accepting can lose
// to its roundings.
inline double left_to_accept(double error, double golden, double rtol) {
  return error * (1 + 0x1p-50) - rtol * std::abs(golden);
}

}  // namespace btf
