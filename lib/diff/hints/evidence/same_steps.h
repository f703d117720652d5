// Whole runs of pairs that differ by no more than rounding to the coarser dtype: nearly all runs of
// a tensor that was stored in one.
#pragma once

#include "diff/pairs/rows.h"
#include "kernels/compare/judge_runs.h"

namespace btf::hints {

// Are all numbers finite, and those of each pair at one position of a grid of floats? False:
// perhaps.
inline bool same_steps_everywhere(const PairRun<double>& run, const StepGrid& grid) {
  return !grid.integer && judge_runs().same_steps(run.actual, run.golden, run.values(), grid);
}
inline bool same_steps_everywhere(const PairRun<long double>&, const StepGrid&) { return false; }

}  // namespace btf::hints
