#include "diff/hints/evidence/residue.h"

#include <algorithm>
#include <array>

#include "btf/try.h"
#include "diff/hints/evidence/same_steps.h"
#include "diff/score/collectors.h"

namespace btf::hints {
namespace {

// Passes on what does not agree either.
class ResidueCollector final : public PairCollector {
 public:
  explicit ResidueCollector(const Agreement& agreement) : agreement_(agreement) {}

  void prepare(unsigned workers) override {
    found_.prepare(workers);
    refused_.resize(workers);
    mismatched_.assign(workers, 0);
  }
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override {
    filter(worker, slab, run);
  }
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override {
    filter(worker, slab, run);
  }

  Residue finish() const {
    Residue residue{.sample = found_.sample()};
    for (const std::uint64_t count : mismatched_) residue.mismatched += count;
    return residue;
  }

 private:
  template <typename Real>
  void filter(unsigned worker, std::uint64_t slab, const JudgedRun<Real>& run) {
    if (run.summary.refused == 0) return;
    // All of them agree.
    if (same_steps_everywhere(run.pairs, agreement_.judge.grid)) return;
    JudgedRun<Real> left = run;
    left.refused = refused_[worker].data();
    left.summary.refused = 0;
    for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
      const bool refused =
          run.refused[i] != 0 && !agrees(run.pairs.actual[i], run.pairs.golden[i], agreement_);
      refused_[worker][i] = refused ? run.refused[i] : 0;
      left.summary.refused += refused ? 1 : 0;
    }
    if (left.summary.refused == 0) return;
    mismatched_[worker] += left.summary.refused * (run.pairs.alike ? run.pairs.count : 1);
    found_.take(worker, slab, left);
  }

  const Agreement& agreement_;
  MismatchCollector found_{0, kHintSample};
  std::vector<std::array<double, kPairRun>> refused_;  // of each worker
  std::vector<std::uint64_t> mismatched_;
};

}  // namespace

Result<Residue> residue_of(const HintInput& input, const Agreement& agreement) {
  const PairRows pairs(input.actual, input.golden, input.execution);
  ResidueCollector collector(agreement);
  PairCollector* const collectors[] = {&collector};
  BTF_TRY(collect(pairs, input.judge, collectors));
  return collector.finish();
}

}  // namespace btf::hints
