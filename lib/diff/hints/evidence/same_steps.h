// Whole runs of pairs that differ by no more than rounding to the coarser dtype: nearly all runs of
// a tensor that was stored in one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "diff/pairs/rows.h"
#include "kernels/compare/judge_runs.h"

namespace btf::hints {

// Every worker has its own.
class SameSteps {
 public:
  explicit SameSteps(const StepGrid& grid) {
    // No error is too large; without a limit the loop would ask pair by pair.
    judge_.atol = std::numeric_limits<double>::max();
    judge_.ulp = 0;
    judge_.grid = grid;
  }

  // Are all numbers finite, and those of each pair at one position of a grid of floats? False:
  // perhaps.
  bool everywhere(const PairRun<double>& run) {
    if (judge_.grid.integer) return false;
    const RunSummary summary = judge_runs().judge(run.actual, run.golden, run.values(), judge_,
                                                  error_.data(), refused_.data());
    return summary.refused == 0 && summary.special == 0;
  }
  static bool everywhere(const PairRun<long double>&) { return false; }

 private:
  Judge judge_;
  std::array<double, kPairRun> error_;
  std::array<double, kPairRun> refused_;
};

}  // namespace btf::hints
