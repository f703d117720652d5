// Figures over the whole tensor: sums of squares and what follows from them, quantiles of the
// errors, the largest elements of each row.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "diff/score/collectors.h"
#include "kernels/compare/compare_runs.h"

namespace btf {

// Sums are compensated and added in the order of the slabs, so that the last digit does not depend
// on the number of workers.
class FigureCollector final : public PairCollector {
 public:
  FigureCollector(DType actual, DType golden);
  void prepare(unsigned workers) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override;
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override;

  Figures finish();

  // The figures of this many pairs of equal numbers.
  static Figures of_equal(std::uint64_t pairs);

 private:
  struct CompensatedSum {
    long double sum = 0;
    long double lost = 0;

    void add(long double x);
    void add(const CompensatedSum& other);
    long double wide() const { return sum + lost; }
  };

  // GatheredPairs pairs, summed in blocks of fixed size: the borders of runs depend on the entries
  // of both tensors and must not affect the sums.
  struct GatheredPairs {
    static constexpr std::size_t kBlock = 1024;
    std::vector<double> actual;
    std::vector<double> golden;
  };

  struct Sums : FigureSums<CompensatedSum> {
    std::uint64_t slab = 0;
    std::uint64_t pairs = 0;
    double largest = 0;  // |golden|

    void add(const Sums& other);
    void add(const RunSums& part, std::uint64_t count);
    std::optional<BestFit> fit() const;
  };

  template <typename Wide, typename Real>
  static void add_run(Sums& sums, const JudgedRun<Real>& run);
  template <typename Real>
  static void add_each(Sums& sums, const JudgedRun<Real>& run);
  static void add_block(Sums& sums, GatheredPairs& block);
  void gather(unsigned worker, Sums& sums, const JudgedRun<double>& run);
  void end_slab(unsigned worker);
  Sums& sums_for(unsigned worker, std::uint64_t slab);
  void fold(const Sums& sums);

  bool wide_;                              // squares of float64 may overflow a double
  std::vector<std::optional<Sums>> open_;  // each worker's current slab
  std::vector<GatheredPairs> gathered_;    // per worker, less than a block
  std::mutex mutex_;
  std::map<std::uint64_t, Sums> early_;  // slabs that wait for earlier ones
  std::uint64_t next_ = 0;
  Sums total_;
};

// Quantiles of the absolute errors of finite pairs, by the method of numpy.quantile (linear).
// Exact, in a few walks. Empty if there is no finite pair.
Result<std::vector<QuantileValue>> error_quantiles(const PairRows& pairs, std::uint64_t finite,
                                                   std::span<const QuantileGate> gates);

// Fails if the lists of compare_top_k() need more memory than `execution` allows.
Status check_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                   const Execution& execution);

// Compares the k largest elements of each row: in descending order, NaN before all numbers, the
// lower index first among equals. Where the lists name different elements, golden's numbers for
// both must be as close as the judge requires.
Result<TopK> compare_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                           const Judge& judge, const Execution& execution);

}  // namespace btf
