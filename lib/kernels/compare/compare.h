// Compares runs of real numbers and counts mismatches.
#pragma once

#include <cstdint>
#include <limits>

#include "btf/diff.h"
#include "kernels/number/grid.h"
#include "kernels/number/steps.h"

namespace btf {

// A tolerance, prepared for two dtypes.
struct Judge {
  double rtol = 0;
  double atol = 0;
  bool by_error = true;  // rtol and atol apply
  std::uint64_t ulp = UINT64_MAX;
  bool equal_nan = true;
  StepGrid grid;
  bool half_step = false;  // half a step of either side's grid is also accepted, pair by pair
  Grid actual{};
  Grid golden{};
};

Judge judge_of(const Tolerance& effective, DType actual, DType golden);

struct CompareScore {
  std::uint64_t compared = 0;
  std::uint64_t mismatched = 0;
  std::uint64_t special = 0;  // pairs with NaN or Inf
  double max_abs = 0;         // over pairs of finite numbers
  double max_rel = 0;         // |actual - golden| / |golden|; Inf if only golden is 0
  std::uint64_t max_ulp = 0;
  // The least atol, and the least rtol, that alone would accept every pair of finite numbers; Inf
  // if there is none.
  double least_atol = 0;
  double least_rtol = 0;
  NanCount nan;
  InfCount inf;
  // All mismatches are of finite numbers, so some tolerance would accept them.
  bool tolerable = true;

  void add(const CompareScore& other);
};

// Real is float, double or long double.
template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                 CompareScore& score);

// The same for `count` equal pairs. In the functions below, Real is double or long double.
template <typename Real>
void compare_many(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                  CompareScore& score);

struct PairError {
  double abs = 0;
  double rel = 0;
};

// The errors of a pair as compare_run() computes them.
template <typename Real>
PairError error_of(Real actual, Real golden);

// Returns true if the pair is accepted. `number` is its row-major index, on which its step may
// depend.
template <typename Real>
bool accepts(Real actual, Real golden, const Judge& judge, std::uint64_t number = 0);

// The largest error of a pair of finite numbers that rtol, atol and half a step accept.
double allowed_error(double actual, double golden, const Judge& judge, std::uint64_t number);

}  // namespace btf
