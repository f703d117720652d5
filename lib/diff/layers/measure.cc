#include "diff/layers/measure.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/layers/slices.h"
#include "diff/pairs/rows.h"
#include "kernels/compare/error_runs.h"

namespace btf {
namespace {

// Different values of one side, up to a few: those of a quantised tensor.
class Levels {
 public:
  void take(const double* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && levels_.size() <= kMost; ++i) levels_.insert(values[i]);
  }

  // The distance, if all lie on one grid.
  double step() const {
    if (levels_.size() <= kFew || levels_.size() > kMost) return 0;
    double least = HUGE_VAL;
    for (auto at = std::next(levels_.begin()); at != levels_.end(); ++at)
      least = std::min(least, *at - *std::prev(at));
    // Neighbours far apart tell the distance more closely than the least one.
    double step = least;
    const double first = *levels_.begin();
    for (const double level : levels_)
      if (const double steps = std::round((level - first) / step); steps > 0)
        step = (level - first) / steps;
    const auto off_grid = [&](double level) {
      const double steps = (level - first) / step;
      return std::abs(steps - std::round(steps)) > kOffGrid || steps > kMostSteps;
    };
    return std::ranges::any_of(levels_, off_grid) ? 0 : step;
  }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr std::size_t kMost = 256;
  static constexpr double kMostSteps = 255.5;
  static constexpr double kOffGrid = 0.05;
  std::set<double> levels_;
};

struct SideTotals {
  long double sum = 0;
  long double square = 0;
  double largest = 0;
  std::uint64_t bits = 0;
  std::uint64_t hash = 0;
  Levels levels;
  std::array<double, 4> samples{};
};

class LayerMeter {
 public:
  LayerMeter(const DiffSide& actual, const DiffSide& golden)
      : elements_(element_count(golden.dims()).value_or(0)),
        limit_(static_cast<double>(hints::limits_of(actual.dtype()).highest)),
        codes_(!info(actual.dtype()).floating() && info(golden.dtype()).floating()),
        slices_(layer_slices(golden.dims())) {}

  template <typename Real>
  void take(const PairRun<Real>& run) {
    const std::uint64_t n = run.values();
    weight_ = run.alike ? run.count : 1;
    if constexpr (std::is_same_v<Real, double>) {
      if (error_runs().finite(run.actual, run.golden, n))
        return add(run.actual, run.golden, run, n, n);
    }
    // Pairs without a number become zeros, which add nothing to any sum.
    std::uint64_t finite = n;
    for (std::uint64_t i = 0; i < n; ++i) {
      const bool number = std::isfinite(run.actual[i]) && std::isfinite(run.golden[i]);
      if (!number) count_special(run.actual[i], run.golden[i]);
      finite -= number ? 0U : 1U;
      actual_numbers_[i] = number ? static_cast<double>(run.actual[i]) : 0;
      golden_numbers_[i] = number ? static_cast<double>(run.golden[i]) : 0;
      // Of 64-bit integers that become one double.
      if (number && run.actual[i] != run.golden[i] && actual_numbers_[i] == golden_numbers_[i])
        unequal_ += weight_;
    }
    add(actual_numbers_.data(), golden_numbers_.data(), run, n, finite);
  }

  LayerFigures finish() {
    LayerFigures& f = figures_;
    f.elements = elements_;
    f.equal -= unequal_;
    f.actual = side(actual_);
    f.golden = side(golden_);
    const long double norm = std::sqrt(golden_.square);
    const long double error = std::sqrt(error2_);
    f.error = static_cast<double>(error);
    f.e = ratio(error, norm);
    f.rho = ratio(std::abs(product_), error * norm);
    if (f.pairs > 0 && error > 0)
      f.mu = static_cast<double>(std::abs(error_) / (error * std::sqrt(1.0L * f.pairs)));
    if (golden_.square > 0)
      f.gain = static_cast<double>((golden_.square + product_) / golden_.square);
    for (const Slices& slices : slices_) f.w = std::max(f.w, slices.worst());
    if (codes_) fit_scale();
    return f;
  }

 private:
  static double ratio(long double part, long double whole) {
    if (part == 0) return 0;
    return static_cast<double>(part / whole);
  }

  template <typename Real>
  void count_special(Real a, Real g) {
    const auto one_kind = [&](bool actual, bool golden, auto& counts) {
      std::uint64_t& count = actual && golden ? counts.both
                             : actual         ? counts.actual
                                              : counts.golden;
      if (actual || golden) count += weight_;
    };
    one_kind(std::isnan(a), std::isnan(g), figures_.nan);
    if (std::isinf(a) && std::isinf(g) && std::signbit(a) != std::signbit(g))
      figures_.inf.opposite += weight_;
    else
      one_kind(std::isinf(a), std::isinf(g), figures_.inf);
  }

  template <typename Real>
  void add(const double* actual, const double* golden, const PairRun<Real>& run, std::uint64_t n,
           std::uint64_t finite) {
    const ErrorSums sums = error_runs().errors(actual, golden, n, limit_);
    const auto weight = static_cast<long double>(weight_);
    if (std::isfinite(sums.square) && std::isfinite(sums.product)) {
      error_ += weight * static_cast<long double>(sums.error);
      error2_ += weight * square_sum(actual, golden, n, sums.square, sums.largest);
      product_ += weight * static_cast<long double>(sums.product);
    } else {
      add_wide(actual, golden, n);
    }
    figures_.pairs += finite * weight_;
    figures_.equal += (sums.equal - (n - finite)) * weight_;
    figures_.at_limit += sums.at_limit * weight_;
    figures_.max_error = std::max(figures_.max_error, sums.largest);
    add_side(actual_, actual, run.first, n);
    add_side(golden_, golden, run.first, n);
    if (!run.alike)
      for (Slices& slices : slices_) slices.add(actual, golden, run.first, n);
    ++runs_;
  }

  // Squares of doubles may be beyond a double, or below it.
  static long double square_sum(const double* actual, const double* golden, std::uint64_t n,
                                double sum, double largest) {
    if (sum > kLeastSquare || largest == 0) return static_cast<long double>(sum);
    long double wide = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const long double e =
          static_cast<long double>(actual[i]) - static_cast<long double>(golden[i]);
      wide += e * e;
    }
    return wide;
  }

  void add_wide(const double* actual, const double* golden, std::uint64_t n) {
    const auto weight = static_cast<long double>(weight_);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto g = static_cast<long double>(golden[i]);
      const long double e = static_cast<long double>(actual[i]) - g;
      error_ += weight * e;
      error2_ += weight * e * e;
      product_ += weight * e * g;
    }
  }

  void add_side(SideTotals& side, const double* values, std::uint64_t first, std::uint64_t n) {
    const SideSums sums = error_runs().side(values, n);
    const auto weight = static_cast<long double>(weight_);
    if (std::isfinite(sums.square) && (sums.square > kLeastSquare || sums.largest == 0)) {
      side.sum += weight * static_cast<long double>(sums.sum);
      side.square += weight * static_cast<long double>(sums.square);
    } else {
      for (std::uint64_t i = 0; i < n; ++i) {
        const auto x = static_cast<long double>(values[i]);
        side.sum += weight * x;
        side.square += weight * x * x;
      }
    }
    side.largest = std::max(side.largest, sums.largest);
    side.bits |= sums.bits;
    if (elements_ >= kManyElements && (runs_ < kFirstRuns || runs_ % kEveryRun == 0))
      side.levels.take(values, n);
    const std::array<std::uint64_t, 4> seen{side.hash, std::bit_cast<std::uint64_t>(sums.sum),
                                            std::bit_cast<std::uint64_t>(sums.square), first};
    side.hash = XXH64(seen.data(), sizeof(seen), std::bit_cast<std::uint64_t>(values[n - 1]));
    for (std::size_t i = 0; i < side.samples.size(); ++i) {
      const std::uint64_t at = (elements_ - 1) / 3 * i + (i == 3 ? (elements_ - 1) % 3 : 0);
      if (at >= first && at - first < n) side.samples[i] = values[at - first];
    }
  }

  LayerSide side(const SideTotals& totals) const {
    LayerSide side{.norm = static_cast<double>(std::sqrt(totals.square)),
                   .sum = static_cast<double>(totals.sum),
                   .peak = totals.largest};
    constexpr int kMantissa = 52;
    if (totals.largest > 0)
      side.bits = totals.bits == 0
                      ? 1U
                      : static_cast<std::uint32_t>(kMantissa + 1 - std::countr_zero(totals.bits));
    side.step = totals.levels.step();
    side.fingerprint = totals.hash;
    side.samples = totals.samples;
    return side;
  }

  // Codes stand for numbers by a scale that nothing says: the one that fits best.
  void fit_scale() {
    const long double product = golden_.square + product_;  // sum of actual * golden
    const long double most = actual_.square * golden_.square;
    figures_.scale_fitted = true;
    figures_.e = most > 0
                     ? static_cast<double>(std::sqrt(std::max(0.0L, 1 - product / most * product)))
                     : ratio(golden_.square, golden_.square);
    figures_.error = figures_.e * figures_.golden.norm;
    figures_.w = figures_.rho = figures_.mu = 0;
  }

  // Below, digits of squares are lost.
  static constexpr double kLeastSquare = 1e-280;
  // Fewer may well have few values.
  static constexpr std::uint64_t kManyElements = 2048;
  static constexpr std::uint64_t kFirstRuns = 4;
  static constexpr std::uint64_t kEveryRun = 64;

  std::uint64_t elements_;
  double limit_;
  bool codes_;
  std::vector<Slices> slices_;
  LayerFigures figures_;
  SideTotals actual_;
  SideTotals golden_;
  long double error_ = 0;
  long double error2_ = 0;
  long double product_ = 0;
  std::uint64_t weight_ = 1;
  std::uint64_t unequal_ = 0;
  std::uint64_t runs_ = 0;
  std::array<double, kPairRun> actual_numbers_;
  std::array<double, kPairRun> golden_numbers_;
};

}  // namespace

Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution) {
  Execution alone = execution;
  alone.jobs = 1;
  const PairRows rows(actual, golden, alone);
  LayerMeter meter(actual, golden);
  const auto walk = [&]<typename Real>(Real) {
    return rows.walk<Real>(
        [&](unsigned, std::uint64_t, const PairRun<Real>& run) { meter.take(run); });
  };
  BTF_TRY(rows.use_double() ? walk(0.0) : walk(0.0L));
  return meter.finish();
}

}  // namespace btf
