#include "diff/score/saturation.h"

#include <cmath>

#include "core/dtype_range.h"

namespace btf {
namespace {

bool may_saturate(const Grid& own, const Grid& other) {
  return own.saturates() && (own.codes || other.codes || can_overflow(other.dtype, own.dtype));
}

}  // namespace

SaturationCollector::SaturationCollector(const Judge& judge)
    : judge_(judge),
      actual_(may_saturate(judge.actual, judge.golden)),
      golden_(may_saturate(judge.golden, judge.actual)) {}

void SaturationCollector::prepare(unsigned workers) { counts_.assign(workers, {}); }

template <typename Real>
void SaturationCollector::add(SaturatedCount& count, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    if (run.refused[i] == 0 || std::isnan(run.error[i])) continue;
    const Real a = run.pairs.actual[i];
    const Real g = run.pairs.golden[i];
    const std::uint64_t number = run.pairs.number(i);
    const std::uint64_t pairs = run.pairs.alike ? run.pairs.count : 1;
    if (actual_ && judge_.actual.saturated(a, g, number)) count.actual += pairs;
    if (golden_ && judge_.golden.saturated(g, a, number)) count.golden += pairs;
  }
}

void SaturationCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  add(counts_[worker], run);
}

void SaturationCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  add(counts_[worker], run);
}

SaturatedCount SaturationCollector::count() const {
  SaturatedCount total;
  for (const SaturatedCount& count : counts_) {
    total.actual += count.actual;
    total.golden += count.golden;
  }
  return total;
}

}  // namespace btf
