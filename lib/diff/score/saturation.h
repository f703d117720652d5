// Refused pairs in which one side is at the end of its grid and the other beyond it.
#pragma once

#include <cstdint>
#include <vector>

#include "diff/pairs/side.h"
#include "diff/score/collectors.h"

namespace btf {

class SaturationCollector final : public PairCollector {
 public:
  explicit SaturationCollector(const Judge& judge);
  // Can there be any?
  bool wanted() const { return actual_ || golden_; }
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  SaturatedCount count() const;

 private:
  template <typename Real>
  void add(SaturatedCount& count, const JudgedRun<Real>& run) const;

  const Judge& judge_;
  bool actual_;
  bool golden_;
  std::vector<SaturatedCount> counts_;  // of each worker
};

}  // namespace btf
