#include "diff/score/nonfinite.h"

#include <algorithm>
#include <cmath>

#include "elements/coo.h"

namespace btf {
namespace {

constexpr std::uint64_t kNowhere = UINT64_MAX;

}  // namespace

void NonfiniteCollector::prepare(unsigned workers) {
  Numbers none;
  none.fill(kNowhere);
  lowest_.assign(workers, none);
}

template <typename Real>
void NonfiniteCollector::keep(Numbers& lowest, const JudgedRun<Real>& run) {
  if (run.summary.special == 0) return;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    if (!std::isnan(run.error[i])) continue;
    const Real actual = run.pairs.actual[i];
    const Real golden = run.pairs.golden[i];
    const auto note = [&](Kind kind, bool is) {
      if (is) lowest[kind] = std::min(lowest[kind], run.pairs.number(i));
    };
    note(nan_actual, std::isnan(actual) && !std::isnan(golden));
    note(nan_golden, !std::isnan(actual) && std::isnan(golden));
    note(nan_both, std::isnan(actual) && std::isnan(golden));
    note(inf_both, std::isinf(actual) && actual == golden);
    note(inf_opposite, std::isinf(actual) && std::isinf(golden) && actual != golden);
    note(inf_actual, std::isinf(actual) && !std::isinf(golden));
    note(inf_golden, !std::isinf(actual) && std::isinf(golden));
  }
}

void NonfiniteCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  keep(lowest_[worker], run);
}

void NonfiniteCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  keep(lowest_[worker], run);
}

FirstNonfinite NonfiniteCollector::first(const Dims& dims) const {
  const auto place = [&](Kind kind) {
    std::uint64_t lowest = kNowhere;
    for (const Numbers& numbers : lowest_) lowest = std::min(lowest, numbers[kind]);
    return lowest == kNowhere ? std::nullopt : std::optional(index_of(dims, lowest));
  };
  return {.nan_actual = place(nan_actual),
          .nan_golden = place(nan_golden),
          .inf_opposite = place(inf_opposite),
          .inf_actual = place(inf_actual),
          .inf_golden = place(inf_golden),
          .nan_both = place(nan_both),
          .inf_both = place(inf_both)};
}

}  // namespace btf
