// Sums over the pairs of a layer, for the whole and for slices of it. A dead channel or tile is
// large in its slice but small in the whole.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "btf/layers.h"
#include "btf/layout.h"
#include "kernels/compare/compare_runs.h"

namespace btf {

// Squares of errors and of golden by slice, along the dims that may be channels and by parts of the
// whole tensor.
class Slices {
 public:
  // `inner`: adjacent elements of one index of the dim; `count`: indices. More than kMaxSlices
  // indices share slices. Fewer than two indices have no sums.
  Slices(std::uint64_t inner, std::uint64_t count);

  // Adds pairs of finite numbers beginning at row-major number `first`. Real is float or double.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  // The same with the sums of squares, which suffice if all the pairs are in one slice.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n,
           double error2, double golden2);

  // `other` is of a tensor with the same dims.
  void add(const Slices& other);

  // The largest error of a slice, relative to its norm or to that of the mean slice if that is
  // larger.
  double worst() const;

  static constexpr std::uint64_t kMaxSlices = 4096;

 private:
  template <typename Real>
  void add_places(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);
  template <typename Real>
  void add_slices(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  std::uint64_t inner_;
  std::uint64_t count_;
  std::uint64_t period_ = 0;    // not 0: sums are kept per place within this many elements
  std::vector<double> error2_;  // of slices or places
  std::vector<double> golden2_;
};

// Slices along the likeliest channel dims and by parts of the whole.
std::vector<Slices> layer_slices(const Dims& dims);

// Distinct values of one side, up to a few, as a quantised tensor has.
class Levels {
 public:
  template <typename Real>
  void take(const Real* values, std::uint64_t count);
  // Stops collecting, with step() 0, if the values cannot be codes times a scale, whatever other
  // values follow. `largest`: the largest magnitude of the values.
  template <typename Real>
  void rule_out_grid(const Real* values, std::uint64_t count, double largest);
  // The rms distance between neighbours of 17 to 256 values, if that is few for `numbers` elements
  // or they are multiples of one number; else 0.
  double step(std::uint64_t numbers) const;

 private:
  void insert(double value);

  std::vector<double>
      places_;  // a hash table with NaN for empty places; no element before the first insertion
  std::vector<double> levels_;  // the values in the table, in order of insertion
  bool no_grid_ = false;
};

// The step of codes of up to 16 bits times a scale, from the first numbers of one side.
class WideGrid {
 public:
  template <typename Real>
  void take(const Real* values, std::uint64_t count) {
    constexpr std::size_t kMax = 1024;
    for (std::uint64_t i = 0; i < count && numbers_.size() < kMax; ++i)
      if (std::isfinite(values[i])) numbers_.push_back(static_cast<double>(values[i]));
  }
  // 0 if they are not multiples of one number.
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

// Whether the sums can be used as they are. Squares may overflow a double, or lose digits to
// underflow.
bool is_exact_enough(const PairSums& sums);

// Pairs of finite numbers beginning at row-major number `first`. Real is float or double.
template <typename Real>
struct NumberRun {
  const Real* actual = nullptr;
  const Real* golden = nullptr;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t weight = 1;  // each pair stands for this many
};

// The runs with the largest errors.
class WorstRuns {
 public:
  void take(double largest, std::uint64_t first, std::uint64_t count);
  std::vector<ElementRun> runs() const;

 private:
  struct Row {
    double largest = 0;
    ElementRun run{};
  };
  static constexpr std::size_t kMax = 8;
  std::array<Row, kMax> rows_{};  // the worst first
};

class LayerTotals {
 public:
  // `limit`: the largest finite number of actual's dtype.
  LayerTotals(const Dims& dims, double limit);

  // Only `numbers` of the run's pairs count; the others are zeros on both sides.
  void add(const NumberRun<double>& run, std::uint64_t numbers);
  // For runs of which all pairs count and whose sums are finite and not too small.
  template <typename Real>
  void add(const NumberRun<Real>& run, const PairSums& sums);
  void add(const LayerTotals& other);

  long double error = 0;
  long double error2 = 0;
  long double product = 0;  // sum of error * golden
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
