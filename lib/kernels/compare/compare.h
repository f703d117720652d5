// Compares runs of real numbers and keeps the score.
#pragma once

#include <cstdint>
#include <limits>

#include "btf/diff.h"
#include "kernels/number/grid.h"
#include "kernels/number/steps.h"

namespace btf {

// A tolerance made ready for two dtypes.
struct Judge {
  double rtol = 0;
  double atol = 0;
  bool by_error = true;  // rtol and atol are asked
  std::uint64_t ulp = UINT64_MAX;
  bool equal_nan = true;
  StepGrid grid;
  bool half_step = false;  // of either side's grid is accepted too: a question of single pairs
  Grid actual{};
  Grid golden{};
};

Judge judge_of(const Tolerance& effective, DType actual, DType golden);

struct CompareScore {
  std::uint64_t compared = 0;
  std::uint64_t mismatched = 0;
  std::uint64_t special = 0;  // pairs with NaN or Inf
  double max_abs = 0;         // over pairs of finite numbers
  double max_rel = 0;         // |actual - golden| / |golden|; Inf where only golden is 0
  std::uint64_t max_ulp = 0;
  double least_atol = 0;  // that alone would accept every pair of finite numbers; Inf if none would
  double least_rtol = 0;  // likewise
  NanCount nan;
  InfCount inf;
  // True if every mismatch is one of finite numbers, so that some tolerance would accept it.
  bool tolerable = true;

  void add(const CompareScore& other);
};

// Real is float, double or long double.
template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                 CompareScore& score);

// The same for `count` pairs that are all alike. Real is double or long double from here on.
template <typename Real>
void compare_many(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                  CompareScore& score);

struct PairError {
  double abs = 0;
  double rel = 0;
};

// As compare_run() scores it.
template <typename Real>
PairError error_of(Real actual, Real golden);

// Is this pair accepted? `number` is its index in row-major order: each may have its own step.
template <typename Real>
bool accepts(Real actual, Real golden, const Judge& judge, std::uint64_t number = 0);

// The largest error of a pair of finite numbers that is accepted, as far as errors decide.
double allowed_error(double actual, double golden, const Judge& judge, std::uint64_t number);

}  // namespace btf
