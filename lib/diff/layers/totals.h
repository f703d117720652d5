// Sums over the pairs of a layer, and slice by slice: of the dims that may be channels, and of
// parts of the whole. A dead channel or tile is large in its slice, and small in the whole.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "btf/layers/figures.h"
#include "btf/layout.h"
#include "kernels/compare/error_runs.h"

namespace btf {

// Squares of errors and of golden, slice by slice: of the dims that may be channels, and of parts
// of the whole. A dead channel or tile is large in its slice and small in the whole.

class Slices {
 public:
  // `inner`: elements of an index of the dim, side by side; `count`: indices. More than kMaxSlices
  // are folded. Nothing is kept of fewer than two.
  Slices(std::uint64_t inner, std::uint64_t count);

  // Pairs of finite numbers from the row-major number `first` on. Real is float or double.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  // The same where the sums of their squares are known, which is enough where all are in one slice.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n,
           double error2, double golden2);

  // `other` is of a tensor with the same dims.
  void add(const Slices& other);

  // The largest error of a slice: to its norm, or that of the mean slice if that is larger.
  double worst() const;

  static constexpr std::uint64_t kMaxSlices = 4096;

 private:
  template <typename Real>
  void add_places(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);
  template <typename Real>
  void add_slices(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  std::uint64_t inner_;
  std::uint64_t count_;
  std::uint64_t period_ = 0;    // not 0: places of several slices are added up side by side
  std::vector<double> error2_;  // of slices or places
  std::vector<double> golden2_;
};

// Slices by the likeliest channel dims and by parts of the whole.
std::vector<Slices> layer_slices(const Dims& dims);

// Sums over the pairs of a layer, independent of the order of pairs.

// Different values of one side, up to a few: those of a quantised tensor.
class Levels {
 public:
  template <typename Real>
  void take(const Real* values, std::uint64_t count);
  // Are these no codes times a scale, whatever others there are? Then step() is 0 and nothing more
  // is taken. `largest`: the magnitude of theirs.
  template <typename Real>
  void rule_out_grid(const Real* values, std::uint64_t count, double largest);
  // The rms distance of neighbours, of 17 to 256 values, if so many different ones are few of
  // `numbers`, or multiples of one of them; else 0.
  double step(std::uint64_t numbers) const;

 private:
  void insert(double value);

  std::vector<double> places_;  // a hash table; NaN where there is none. Empty before the first
  std::vector<double> levels_;  // what the places hold, as it came
  bool no_grid_ = false;
};

// The step of codes of up to 16 bits times a scale, of the first numbers of one side.
class WideGrid {
 public:
  template <typename Real>
  void take(const Real* values, std::uint64_t count) {
    constexpr std::size_t kMost = 1024;
    for (std::uint64_t i = 0; i < count && numbers_.size() < kMost; ++i)
      if (std::isfinite(values[i])) numbers_.push_back(static_cast<double>(values[i]));
  }
  // 0: they are multiples of none.
  double step() const;

 private:
  std::vector<double> numbers_;
};

struct SideTotals {
  long double sum = 0;
  long double square = 0;
  double largest = 0;
  std::uint64_t bits = 0;
  std::uint64_t hash = 0;
  Levels levels{};
  std::array<double, 4> samples{};

  LayerSide figures(std::uint64_t numbers) const;
};

// May their sums be taken as they are? Squares may be beyond a double, or lose digits below it.
bool is_exact_enough(const PairSums& sums);

// Pairs of finite numbers, from the row-major number `first` on. Real is float or double.
template <typename Real>
struct NumberRun {
  const Real* actual = nullptr;
  const Real* golden = nullptr;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t weight = 1;  // so many pairs does each stand for
};

// The runs with the largest errors, as many as are worth a look.
class WorstRuns {
 public:
  void take(double largest, std::uint64_t first, std::uint64_t count);
  std::vector<ElementRun> runs() const;

 private:
  struct Row {
    double largest = 0;
    ElementRun run{};
  };
  static constexpr std::size_t kMost = 8;
  std::array<Row, kMost> rows_{};  // the worst first
};

class LayerTotals {
 public:
  // `limit`: the largest number of actual's dtype.
  LayerTotals(const Dims& dims, double limit);

  // `numbers` of the run's pairs count; the others are zeros on both sides.
  void add(const NumberRun<double>& run, std::uint64_t numbers);
  // All of them count, and their sums are there, finite and not too small.
  template <typename Real>
  void add(const NumberRun<Real>& run, const PairSums& sums);
  void add(const LayerTotals& other);

  long double error = 0;
  long double error2 = 0;
  long double product = 0;  // of error and golden
  double largest = 0;       // |error|
  std::uint64_t pairs = 0;
  std::uint64_t equal = 0;
  std::uint64_t at_limit = 0;
  NanCount nan{};
  InfCount inf{};
  SideTotals actual{};
  SideTotals golden{};
  WorstRuns worst{};

  double worst_slice() const;

 private:
  template <typename Real>
  void add_side(SideTotals& side, const Real* values, const NumberRun<Real>& run,
                const SideSums& sums) const;

  std::uint64_t elements_;
  double limit_;
  std::vector<Slices> slices_;
  std::uint64_t runs_ = 0;
};

}  // namespace btf
