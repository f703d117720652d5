// Most runs of a comparison change nothing of a score but counts: a look at a run that tells so,
// and what the largest of a run are where it does not. Every CPU computes the same.
#pragma once

#include <cstdint>

#include "kernels/compare/compare.h"

namespace btf {

// The largest values in a run of pairs of finite numbers.
struct RunExtremes {
  double error = 0;
  double relative = 0;      // error / |golden|
  std::uint64_t steps = 0;  // by the judge's grid
  std::uint64_t refused = 0;
  // False if some error or limit is no double: exact arithmetic has to tell.
  bool clear = true;
};

// Real is float or double.
template <typename Real>
struct ScoreRuns {
  // True if all numbers are finite and none sets a record, so that of the score only `mismatched`
  // changes, by `refused`. False tells nothing.
  bool (*quiet)(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                const CompareScore& score, std::uint64_t& refused);
  // For finite numbers.
  RunExtremes (*extremes)(const Real* actual, const Real* golden, std::uint64_t count,
                          const Judge& judge);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ScoreRuns<Real>& score_runs();

}  // namespace btf
