#include "diff/layers/totals.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <limits>

#include "core/numbers.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

// Shorter pieces cost more than a sum per place.
constexpr std::uint64_t kShortPiece = 64;
constexpr std::uint64_t kMaxPlaces = 4096;
constexpr std::uint64_t kParts = 64;
constexpr std::uint64_t kMinPart = 1024;

}  // namespace

Slices::Slices(std::uint64_t inner, std::uint64_t count)
    : inner_(std::max<std::uint64_t>(1, inner)), count_(count) {
  const Checked round = checked_mul(inner_, count_);
  if (inner_ < kShortPiece && round && *round > 0 && *round <= kMaxPlaces)
    period_ = *round * ceil_div(kShortPiece, *round);
  const std::uint64_t kept = period_ != 0 ? period_ : std::min(count_, kMaxSlices);
  error2_.assign(kept, 0);
  golden2_.assign(kept, 0);
}

template <typename Real>
void Slices::add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n) {
  if (count_ < 2) return;
  period_ != 0 ? add_places(actual, golden, first, n) : add_slices(actual, golden, first, n);
}

template <typename Real>
void Slices::add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n,
                 double error2, double golden2) {
  if (count_ < 2 || period_ != 0 || n > inner_ - first % inner_)
    return add(actual, golden, first, n);
  const std::uint64_t slice = first / inner_ % count_ % kMaxSlices;
  error2_[slice] += error2;
  golden2_[slice] += golden2;
}

template <typename Real>
void Slices::add_places(const Real* actual, const Real* golden, std::uint64_t first,
                        std::uint64_t n) {
  std::uint64_t place = first % period_;
  for (std::uint64_t at = 0; at < n;) {
    const std::uint64_t piece = std::min(n - at, period_ - place);
    error_runs<Real>().squares(actual + at, golden + at, piece, error2_.data() + place,
                               golden2_.data() + place);
    at += piece;
    place = 0;
  }
}

template <typename Real>
void Slices::add_slices(const Real* actual, const Real* golden, std::uint64_t first,
                        std::uint64_t n) {
  for (std::uint64_t at = 0; at < n;) {
    const std::uint64_t slice = (first + at) / inner_ % count_ % kMaxSlices;
    const std::uint64_t piece = std::min(n - at, inner_ - (first + at) % inner_);
    double error2 = 0;
    double golden2 = 0;
    if (piece >= kShortPiece) {
      error2 = error_runs<Real>().errors(actual + at, golden + at, piece, HUGE_VAL).square;
      golden2 = error_runs<Real>().side(golden + at, piece).square;
    } else {
      for (std::uint64_t i = at; i < at + piece; ++i) {
        const auto g = static_cast<double>(golden[i]);
        const double e = static_cast<double>(actual[i]) - g;
        error2 += e * e;
        golden2 += g * g;
      }
    }
    error2_[slice] += error2;
    golden2_[slice] += golden2;
    at += piece;
  }
}

void Slices::add(const Slices& other) {
  for (std::size_t i = 0; i < error2_.size(); ++i) {
    error2_[i] += other.error2_[i];
    golden2_[i] += other.golden2_[i];
  }
}

double Slices::worst() const {
  if (count_ < 2) return 0;
  const std::uint64_t kept = std::min(count_, kMaxSlices);
  std::vector<double> error2(kept, 0);
  std::vector<double> golden2(kept, 0);
  for (std::uint64_t i = 0; i < error2_.size(); ++i) {
    const std::uint64_t slice = period_ != 0 ? i / inner_ % count_ : i;
    error2[slice] += error2_[i];
    golden2[slice] += golden2_[i];
  }
  double mean = 0;
  for (const double square : golden2) mean += square / static_cast<double>(kept);
  double worst = 0;
  for (std::uint64_t i = 0; i < kept; ++i)
    if (error2[i] > 0) worst = std::max(worst, error2[i] / std::max(golden2[i], mean));
  return std::sqrt(worst);
}

std::vector<Slices> layer_slices(const Dims& dims) {
  std::vector<Slices> slices;
  const std::uint64_t total = element_count(dims).value_or(0);
  if (total == 0) return slices;
  const std::size_t rank = dims.size();
  // Channels are the third dim from the end of images, and the last dim of other tensors.
  if (rank >= 3 && dims[rank - 3] > 1)
    slices.emplace_back(dims[rank - 1] * dims[rank - 2], dims[rank - 3]);
  if (rank >= 1 && rank != 4 && dims[rank - 1] > 1 && dims[rank - 1] < total)
    slices.emplace_back(1, dims[rank - 1]);
  const std::uint64_t part = std::max(kMinPart, ceil_div(total, kParts));
  if (part < total) slices.emplace_back(part, ceil_div(total, part));
  return slices;
}

template void Slices::add(const float*, const float*, std::uint64_t, std::uint64_t);
template void Slices::add(const double*, const double*, std::uint64_t, std::uint64_t);
template void Slices::add(const float*, const float*, std::uint64_t, std::uint64_t, double, double);
template void Slices::add(const double*, const double*, std::uint64_t, std::uint64_t, double,
                          double);

namespace {

constexpr std::size_t kMaxLevels = 256;
constexpr std::uint64_t kMinLevels = 64;  // elements; fewer may form a grid by chance
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool is_exact_enough(double square, double largest) {
  return has_exact_squares(square) || (square == 0 && largest == 0);
}

// Whether sorted numbers are multiples of one number up to rounding, as codes times a scale are.
bool is_grid(std::vector<double> levels) {
  constexpr double kOff = 0.1;  // of a step: float16 rounds the 127th multiple by .03
  double step = HUGE_VAL;
  for (std::size_t i = 1; i < levels.size(); ++i) step = std::min(step, levels[i] - levels[i - 1]);
  std::ranges::sort(levels, {}, [](double x) { return std::abs(x); });
  for (const double level : levels) {
    const double times = std::abs(level) / step;
    const double whole = std::round(times);
    if (whole > kMaxLevels || std::abs(times - whole) > kOff) return false;
    if (whole > 0) step = std::abs(level) / whole;
  }
  return true;
}

}  // namespace

// The greatest common divisor of all distances, starting with the smallest. Its uncertainty grows
// with the distances.
double WideGrid::step() const {
  constexpr double kOff = 0.1;         // of a step
  constexpr double kMaxSteps = 65536;  // from 0 to the largest number
  constexpr std::size_t kMin = 17;     // distinct numbers; fewer may form a grid by chance
  std::vector<double> levels = numbers_;
  std::ranges::sort(levels);
  const auto same = std::ranges::unique(levels);
  levels.erase(same.begin(), same.end());
  if (levels.size() < kMin) return 0;
  std::vector<double> parts;
  for (std::size_t i = 1; i < levels.size(); ++i) parts.push_back(levels[i] - levels[i - 1]);
  for (const double level : levels)
    if (level != 0) parts.push_back(std::abs(level));
  std::ranges::sort(parts);
  const double least = parts.back() / kMaxSteps;
  double step = parts.front();
  for (const double part : parts) {
    const double whole = std::round(part / step);
    double rest = std::abs(part - whole * step);
    if (rest <= kOff * step) {
      step = part / whole;
      continue;
    }
    // Not a multiple, so both are multiples of something smaller.
    for (double more = step; rest > kOff * more;) {
      const double next = std::abs(more - std::round(more / rest) * rest);
      more = step = rest;
      rest = next;
      if (step < least / 2) return 0;
    }
  }
  if (step < least / 2) return 0;
  for (const double part : parts)
    if (std::abs(part / step - std::round(part / step)) > kOff) return 0;
  return step;
}

bool is_exact_enough(const PairSums& sums) {
  return is_exact_enough(sums.errors.square, sums.errors.largest) &&
         is_exact_enough(sums.golden.square, sums.golden.largest) &&
         std::isfinite(sums.errors.product) && std::isfinite(sums.actual_largest);
}

// Codes are at least 1/256 of the largest number apart. Bins of half that width show two values
// that are closer long before all are sorted.
template <typename Real>
void Levels::rule_out_grid(const Real* values, std::uint64_t count, double largest) {
  constexpr std::size_t kBins = 2 * kMaxLevels;  // on each side of zero
  const double bins_per_one = kBins / largest;
  if (no_grid_ || !std::isfinite(bins_per_one)) return;
  std::array<Real, 2 * kBins + 1> in_bin;
  std::bitset<2 * kBins + 1> filled;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bin =
        static_cast<std::size_t>(static_cast<double>(values[i]) * bins_per_one + kBins);
    if (filled[bin] && in_bin[bin] != values[i]) {
      no_grid_ = true;
      levels_.clear();
      return;
    }
    filled[bin] = true;
    in_bin[bin] = values[i];
  }
}

template <typename Real>
void Levels::take(const Real* values, std::uint64_t count) {
  if (no_grid_) return;
  for (std::uint64_t i = 0; i < count && levels_.size() <= kMaxLevels; ++i)
    if (i == 0 || values[i] != values[i - 1]) insert(static_cast<double>(values[i]));
}

void Levels::insert(double value) {
  constexpr std::size_t kPlaces = 1024;
  if (places_.empty()) places_.assign(kPlaces, kNone);
  value += 0.0;  // -0 is 0
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15;
  std::size_t at = bits >> 54;
  while (!std::isnan(places_[at]) && places_[at] != value) at = (at + 1) % kPlaces;
  if (places_[at] == value) return;
  places_[at] = value;
  levels_.push_back(value);
}

double Levels::step(std::uint64_t numbers) const {
  constexpr std::size_t kFewLevels = 16;
  if (levels_.size() <= kFewLevels || levels_.size() > kMaxLevels) return 0;
  std::vector<double> levels = levels_;
  std::ranges::sort(levels);
  if (numbers < kManyElements && !is_grid(levels)) return 0;
  double squares = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double left = i == 0 ? HUGE_VAL : levels[i] - levels[i - 1];
    const double right = i + 1 == levels.size() ? HUGE_VAL : levels[i + 1] - levels[i];
    squares += std::min(left, right) * std::min(left, right);
  }
  return std::sqrt(squares / static_cast<double>(levels.size()));
}

LayerSide SideTotals::figures(std::uint64_t numbers) const {
  LayerSide side;
  side.norm = static_cast<double>(std::sqrt(square));
  side.sum = static_cast<double>(sum);
  side.peak = largest;
  constexpr int kMantissa = 52;
  if (largest > 0)
    side.bits = bits == 0 ? 1U : static_cast<std::uint32_t>(kMantissa + 1 - std::countr_zero(bits));
  side.step = levels.step(numbers);
  side.fingerprint = hash;
  side.samples = samples;
  return side;
}

void WorstRuns::take(double largest, std::uint64_t first, std::uint64_t count) {
  if (!(largest > rows_.back().largest)) return;
  rows_.back() = {largest, {first, count}};
  for (std::size_t at = kMax - 1; at > 0 && rows_[at].largest > rows_[at - 1].largest; --at)
    std::swap(rows_[at], rows_[at - 1]);
}

std::vector<ElementRun> WorstRuns::runs() const {
  std::vector<ElementRun> found;
  for (const Row& row : rows_)
    if (row.largest > 0) found.push_back(row.run);
  return found;
}

LayerTotals::LayerTotals(const Dims& dims, double limit)
    : elements_(element_count(dims).value_or(0)), limit_(limit), slices_(layer_slices(dims)) {}

void LayerTotals::add(const NumberRun<double>& run, std::uint64_t numbers) {
  const ErrorRuns<double>& runs = error_runs<double>();
  const ErrorSums sums = runs.errors(run.actual, run.golden, run.count, limit_);
  const auto weight = static_cast<long double>(run.weight);
  if (is_exact_enough(sums.square, sums.largest) && std::isfinite(sums.product)) {
    error += weight * static_cast<long double>(sums.error);
    error2 += weight * static_cast<long double>(sums.square);
    product += weight * static_cast<long double>(sums.product);
  } else {
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto g = static_cast<long double>(run.golden[i]);
      const long double e = static_cast<long double>(run.actual[i]) - g;
      error += weight * e;
      error2 += weight * e * e;
      product += weight * e * g;
    }
  }
  pairs += numbers * run.weight;
  equal += (sums.equal - (run.count - numbers)) * run.weight;
  at_limit += sums.at_limit * run.weight;
  largest = std::max(largest, sums.largest);
  worst.take(sums.largest, run.first, run.count);
  add_side(actual, run.actual, run, runs.side(run.actual, run.count));
  add_side(golden, run.golden, run, runs.side(run.golden, run.count));
  if (run.weight == 1)
    for (Slices& slices : slices_) slices.add(run.actual, run.golden, run.first, run.count);
  ++runs_;
}

template <typename Real>
void LayerTotals::add(const NumberRun<Real>& run, const PairSums& sums) {
  const ErrorRuns<Real>& runs = error_runs<Real>();
  const auto weight = static_cast<long double>(run.weight);
  error += weight * static_cast<long double>(sums.errors.error);
  error2 += weight * static_cast<long double>(sums.errors.square);
  product += weight * static_cast<long double>(sums.errors.product);
  pairs += run.count * run.weight;
  equal += sums.errors.equal * run.weight;
  if (sums.actual_largest >= limit_)
    at_limit += runs.errors(run.actual, run.golden, run.count, limit_).at_limit * run.weight;
  largest = std::max(largest, sums.errors.largest);
  worst.take(sums.errors.largest, run.first, run.count);
  SideSums own{.sum = sums.golden.sum + sums.errors.error,
               .square = sums.golden.square + 2 * sums.errors.product + sums.errors.square,
               .largest = sums.actual_largest,
               .bits = sums.actual_bits};
  // Where actual is small compared with golden, the subtraction would leave no digits.
  constexpr double kCancelled = 0x1p-10;
  if (own.square < kCancelled * sums.golden.square) own = runs.side(run.actual, run.count);
  add_side(actual, run.actual, run, own);
  add_side(golden, run.golden, run, sums.golden);
  if (run.weight == 1)
    for (Slices& slices : slices_)
      slices.add(run.actual, run.golden, run.first, run.count, sums.errors.square,
                 sums.golden.square);
  ++runs_;
}

template <typename Real>
void LayerTotals::add_side(SideTotals& side, const Real* values, const NumberRun<Real>& run,
                           const SideSums& sums) const {
  constexpr std::uint64_t kFirstRuns = 4;
  constexpr std::uint64_t kEveryRun = 64;
  const auto weight = static_cast<long double>(run.weight);
  if (is_exact_enough(sums.square, sums.largest)) {
    side.sum += weight * static_cast<long double>(sums.sum);
    side.square += weight * static_cast<long double>(sums.square);
  } else {
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto x = static_cast<long double>(values[i]);
      side.sum += weight * x;
      side.square += weight * x * x;
    }
  }
  side.largest = std::max(side.largest, sums.largest);
  side.bits |= sums.bits;
  const bool looked_at = runs_ < kFirstRuns || runs_ % kEveryRun == 0;
  if (elements_ >= kMinLevels && looked_at) {
    if (elements_ < kManyElements) side.levels.rule_out_grid(values, run.count, sums.largest);
    side.levels.take(values, run.count);
  }
  // The hash uses only what does not involve the other side, since actual's sums may be derived
  // from golden's.
  std::array<std::uint64_t, 6> seen{side.hash, run.first,
                                    std::bit_cast<std::uint64_t>(sums.largest), sums.bits};
  if (looked_at) {
    const SideSums own = error_runs<Real>().side(values, run.count);
    seen[4] = std::bit_cast<std::uint64_t>(own.sum);
    seen[5] = std::bit_cast<std::uint64_t>(own.square);
  }
  side.hash = XXH64(seen.data(), sizeof(seen),
                    std::bit_cast<std::uint64_t>(static_cast<double>(values[run.count - 1])));
  for (std::size_t i = 0; i < side.samples.size(); ++i) {
    const std::uint64_t at = (elements_ - 1) / 3 * i + (i == 3 ? (elements_ - 1) % 3 : 0);
    if (at >= run.first && at - run.first < run.count)
      side.samples[i] = static_cast<double>(values[at - run.first]);
  }
}

void LayerTotals::add(const LayerTotals& other) {
  error += other.error;
  error2 += other.error2;
  product += other.product;
  largest = std::max(largest, other.largest);
  pairs += other.pairs;
  equal += other.equal;
  at_limit += other.at_limit;
  nan.add(other.nan);
  inf.add(other.inf);
  for (const auto& [side, more] : {std::pair{&actual, &other.actual}, {&golden, &other.golden}}) {
    side->sum += more->sum;
    side->square += more->square;
    side->largest = std::max(side->largest, more->largest);
    side->bits |= more->bits;
    side->hash ^= more->hash;
  }
  for (std::size_t i = 0; i < slices_.size(); ++i) slices_[i].add(other.slices_[i]);
}

double LayerTotals::worst_slice() const {
  double worst = 0;
  for (const Slices& slices : slices_) worst = std::max(worst, slices.worst());
  return worst;
}

template void LayerTotals::add(const NumberRun<float>&, const PairSums&);
template void LayerTotals::add(const NumberRun<double>&, const PairSums&);

}  // namespace btf
