// Collectors of a walk over pairs: each looks at judged runs and keeps its own results. One walk
// serves any number of them; results do not depend on the number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "diff/sides/rows.h"
#include "diff/sides/side.h"
#include "kernels/compare/compare_runs.h"

namespace btf {

template <typename Real>
struct JudgedRun {
  const PairRun<Real>& pairs;
  const double* error = nullptr;    // absolute; NaN where NaN or Inf is involved
  const double* refused = nullptr;  // the error of refused pairs, 0 for accepted ones
  RunSummary summary;
};

class PairCollector {
 public:
  virtual ~PairCollector() = default;
  virtual void prepare(unsigned workers) = 0;
  virtual void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) = 0;
  virtual void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) = 0;
};

// Walks over all pairs and passes every run to every collector.
Status collect(const PairRows& pairs, const Judge& judge,
               std::span<PairCollector* const> collectors);

// Keeps the row-major numbers of the first, the largest and a sample of the mismatches.
class MismatchCollector final : public PairCollector {
 public:
  // `sample`: how many to take from all over the tensor in addition.
  MismatchCollector(std::uint64_t show, std::uint64_t sample);
  ~MismatchCollector() override;
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  std::vector<std::uint64_t> first() const;  // ascending
  std::vector<std::uint64_t> largest()
      const;  // by error, descending; finite pairs only, if there are any
  std::vector<std::uint64_t> sample() const;  // ascending
  // The lowest number among equal errors; without finite pairs the first with NaN or Inf.
  std::uint64_t worst_abs() const;
  std::uint64_t worst_rel() const;

 private:
  struct State;
  template <typename Real>
  void add(State& state, const JudgedRun<Real>& run) const;
  template <typename Member>
  std::uint64_t worst(Member State::* which) const;

  std::uint64_t show_;
  std::uint64_t sample_;
  std::vector<State> states_;
};

// Counts errors by decade, and finds pairs of rtol and atol that would accept everything.
class ErrorCollector final : public PairCollector {
 public:
  ErrorCollector();
  ~ErrorCollector() override;
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  std::uint64_t equal() const;
  std::vector<DecadeCount> decades() const;
  // `rtol`: the value that would suffice without atol, if any does.
  std::vector<RequiredPair> required(std::optional<double> rtol) const;

 private:
  struct State;
  template <typename Real>
  static void add(State& state, const JudgedRun<Real>& run);

  std::vector<State> states_;
};

// Counts the mismatches in each cell of a heat map.
class HeatmapCollector final : public PairCollector {
 public:
  HeatmapCollector(const Dims& dims, Heatmap frame) : dims_(dims), map_(std::move(frame)) {}
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  Heatmap finish();

 private:
  template <typename Real>
  void count(std::vector<std::uint64_t>& cells, const JudgedRun<Real>& run) const;

  const Dims& dims_;
  Heatmap map_;
  std::vector<std::vector<std::uint64_t>> cells_;  // per worker
};

// Finds the first NaN and Inf of each kind: on one side, or on both.
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
  using Numbers = std::array<std::uint64_t, kinds>;  // row-major, the lowest of each kind

  template <typename Real>
  static void add(Numbers& lowest, const JudgedRun<Real>& run);

  std::vector<Numbers> lowest_;  // per worker
};

// Counts refused pairs in which one side is at the end of its grid and the other beyond it.
class SaturationCollector final : public PairCollector {
 public:
  explicit SaturationCollector(const Judge& judge);
  // Whether there can be any such pair.
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
  std::vector<SaturatedCount> counts_;  // per worker
};

// Chooses the dims that a heat map shows, and the steps along them; counts are not set yet. Axes
// that are not given, or that the tensor does not have, are those along which the sampled
// mismatches are spread least evenly, or else the last two dims.
Heatmap heatmap_frame(const Dims& dims, const HeatmapRequest& request,
                      std::span<const std::uint64_t> sample);

// Whether every sample gives the same frame.
bool needs_no_sample(const Dims& dims, const HeatmapRequest& request);

}  // namespace btf
