// Collectors of a walk over pairs: each looks at judged runs and keeps its own results. One walk
// feeds any number of them; results never depend on the number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "diff/pairs/rows.h"
#include "diff/pairs/side.h"
#include "kernels/compare/judge_runs.h"

namespace btf {

template <typename Real>
struct JudgedRun {
  const PairRun<Real>& pairs;
  const double* error = nullptr;    // absolute; NaN where NaN or Inf is involved
  const double* refused = nullptr;  // the same of refused pairs, 0 of accepted ones
  RunSummary summary;
};

class PairCollector {
 public:
  virtual ~PairCollector() = default;
  virtual void prepare(unsigned workers) = 0;
  virtual void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) = 0;
  virtual void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) = 0;
};

// Walks all pairs and hands every run to every collector.
Status collect(const PairRows& pairs, const Judge& judge,
               std::span<PairCollector* const> collectors);

// Row-major numbers of mismatches worth keeping.
class MismatchCollector final : public PairCollector {
 public:
  // `sample`: how many to take from all over the tensor besides.
  MismatchCollector(std::uint64_t show, std::uint64_t sample);
  ~MismatchCollector() override;
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  std::vector<std::uint64_t> first() const;    // ascending
  std::vector<std::uint64_t> largest() const;  // by error, descending; of finite pairs if any
  std::vector<std::uint64_t> sample() const;   // ascending
  // The lowest of equal errors; without finite pairs the first with NaN or Inf.
  std::uint64_t worst_abs() const;
  std::uint64_t worst_rel() const;

 private:
  struct Kept;
  template <typename Real>
  void keep(Kept& kept, const JudgedRun<Real>& run) const;
  template <typename Member>
  std::uint64_t worst(Member Kept::* which) const;

  std::uint64_t show_;
  std::uint64_t sample_;
  std::vector<Kept> kept_;
};

// Errors by decade, and the tolerances of both kinds that together would accept everything.
class ErrorCollector final : public PairCollector {
 public:
  ErrorCollector();
  ~ErrorCollector() override;
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  std::uint64_t equal() const;
  std::vector<DecadeCount> decades() const;
  // `rtol` is what is needed alone, if anything is enough.
  std::vector<RequiredPair> required(std::optional<double> rtol) const;

 private:
  struct Kept;
  template <typename Real>
  static void keep(Kept& kept, const JudgedRun<Real>& run);

  std::vector<Kept> kept_;
};

// The cells of a heat map.
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
  std::vector<std::vector<std::uint64_t>> cells_;  // of each worker
};

// Where NaN and Inf first stand: on one side, or on both.

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

// Refused pairs in which one side is at the end of its grid and the other beyond it.

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

// Which dims a heat map shows, and in which steps.

// Without counts of mismatches yet. Axes that are not given, or that the tensor has not, are
// picked: those along which the sampled mismatches are spread least evenly, else the last two dims.
Heatmap heatmap_frame(const Dims& dims, const HeatmapRequest& request,
                      std::span<const std::uint64_t> sample);

// Would any sample give the same one?
bool needs_no_sample(const Dims& dims, const HeatmapRequest& request);

}  // namespace btf
