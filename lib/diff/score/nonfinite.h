// Where NaN and Inf first stand: on one side, or on both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diff/score/collectors.h"

namespace btf {

class NonfiniteCollector final : public PairCollector {
 public:
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  FirstNonfinite first(const Dims& dims) const;

 private:
  enum Kind : std::uint8_t {
    nan_actual,
    nan_golden,
    nan_both,
    inf_opposite,
    inf_actual,
    inf_golden,
    inf_both,
    kinds
  };
  using Numbers = std::array<std::uint64_t, kinds>;  // row-major, the lowest

  template <typename Real>
  static void keep(Numbers& lowest, const JudgedRun<Real>& run);

  std::vector<Numbers> lowest_;  // of each worker
};

}  // namespace btf
