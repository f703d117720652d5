#include "fit/scale_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "btf/dtype.h"
#include "convert/quantize/scales.h"
#include "kernels/scale/scale.h"
#include "kernels/stats/stats.h"

namespace btf {
namespace {

constexpr std::size_t kFew = 4096;
constexpr int kBinShift = 14;  // the low bits of a float that do not affect its bin
constexpr std::size_t kBins = (0x7f800000U >> kBinShift) + 1;

std::size_t bin_of(double magnitude) {
  const double most = std::numeric_limits<float>::max();
  const auto near = static_cast<float>(std::min(magnitude, most));
  return std::bit_cast<std::uint32_t>(near) >> kBinShift;
}

double bin_begin(std::size_t bin) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bin << kBinShift)));
}

// The last bin ends at the largest float and also counts what is beyond it.
double bin_end(std::size_t bin) {
  return std::min<double>(bin_begin(bin + 1), std::numeric_limits<float>::max());
}

// Sums of `count` numbers that are spread evenly from `begin` to `end`.
Magnitudes::Sums spread(double count, double begin, double end) {
  return {count, count * (begin + end) / 2, count * (begin * begin + begin * end + end * end) / 3};
}

Magnitudes::Sums together(const Magnitudes::Sums& a, const Magnitudes::Sums& b) {
  return {a.count + b.count, a.sum + b.sum, a.squares + b.squares};
}

}  // namespace

void Magnitudes::take(std::span<const double> numbers) {
  if (numbers.empty()) return;
  const Squares squares = number_runs().squares(numbers.data(), numbers.size(), 0);
  keep_largest_magnitude(numbers.data(), numbers.size(), largest_);
  if (std::isfinite(squares.sum)) {
    squares_ += squares.sum + squares.rest;
    count_ += numbers.size();
    count(numbers);
    return;
  }
  for (const double x : numbers) {
    nan_ += std::isnan(x) ? 1 : 0;
    infinite_ += std::isinf(x) ? 1 : 0;
    if (!std::isfinite(x)) continue;
    squares_ += x * x;
    ++count_;
    count({&x, 1});
  }
}

void Magnitudes::count(std::span<const double> numbers) {
  if (bins_.empty() && few_.size() + numbers.size() <= kFew) {
    for (const double x : numbers) few_.push_back(std::abs(x));
    return;
  }
  if (bins_.empty()) {
    bins_.resize(kBins);
    count_in_bins(few_);
    few_.clear();
  }
  count_in_bins(numbers);
}

void Magnitudes::count_in_bins(std::span<const double> numbers) {
  for (const double x : numbers) {
    bins_[bin_of(std::abs(x))] += x != 0 ? 1 : 0;
    zeros_ += x == 0 ? 1 : 0;
  }
}

void Magnitudes::sort() {
  Sums all;
  if (bins_.empty()) {
    std::ranges::sort(few_);
    zeros_ = static_cast<std::uint64_t>(std::ranges::upper_bound(few_, 0.0) - few_.begin());
    sums_.reserve(few_.size());
    for (const double x : few_) sums_.push_back(all = together(all, {1, x, x * x}));
    return;
  }
  all.count = static_cast<double>(zeros_);
  first_ = static_cast<std::size_t>(
      std::ranges::find_if(bins_, [](std::uint64_t count) { return count > 0; }) - bins_.begin());
  const std::size_t end = bin_of(largest_) + 1;
  sums_.reserve(end - std::min(first_, end));
  for (std::size_t bin = first_; bin < end; ++bin)
    sums_.push_back(
        all = together(all, spread(static_cast<double>(bins_[bin]), bin_begin(bin), bin_end(bin))));
}

double Magnitudes::at_part(double part) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  if (rank <= zeros_) return 0;
  if (rank >= count_) return largest_;
  if (bins_.empty()) return few_[rank - 1];
  const auto found = std::ranges::lower_bound(sums_, static_cast<double>(rank), {}, &Sums::count);
  const auto bin = first_ + static_cast<std::size_t>(found - sums_.begin());
  return std::min(largest_, bin_end(bin));
}

Magnitudes::Sums Magnitudes::up_to(double limit) const {
  if (sums_.empty()) return {};
  if (limit >= largest_) return sums_.back();
  if (bins_.empty()) {
    const auto above = std::ranges::upper_bound(few_, limit) - few_.begin();
    return above == 0 ? Sums{} : sums_[static_cast<std::size_t>(above - 1)];
  }
  const std::size_t bin = bin_of(limit);
  const Sums zeros{static_cast<double>(zeros_), 0, 0};
  if (bin < first_) return zeros;
  const Sums before = bin == first_ ? zeros : sums_[bin - first_ - 1];
  const double begin = bin_begin(bin);
  const double part = std::clamp((limit - begin) / (bin_end(bin) - begin), 0.0, 1.0);
  return together(before,
                  spread(static_cast<double>(bins_[bin]) * part, begin, std::max(begin, limit)));
}

namespace {

std::optional<double> by_part(const Magnitudes& magnitudes, const CodeGrid&, DType dtype,
                              double part) {
  const double largest = magnitudes.at_part(part);
  if (largest == 0) return std::nullopt;
  return static_cast<double>(symmetric_scale(largest, dtype));
}

std::optional<double> by_squares(const Magnitudes& magnitudes, const CodeGrid& grid, DType,
                                 double) {
  using Limits = std::numeric_limits<float>;
  return static_cast<double>(static_cast<float>(std::clamp<double>(
      least_squares_scale(magnitudes, grid), Limits::denorm_min(), Limits::max())));
}

constexpr auto kMethods = std::to_array<ScaleMethod>({
    {{FitScaleMethod::maximum, "maximum"}, by_part, 1},
    {{FitScaleMethod::p99_999, "p99.999"}, by_part, .99999},
    {{FitScaleMethod::p99_99, "p99.99"}, by_part, .9999},
    {{FitScaleMethod::p99_9, "p99.9"}, by_part, .999},
    {{FitScaleMethod::least_squares, "squares"}, by_squares},
});

constexpr auto kNames = [] {
  std::array<Named<FitScaleMethod>, kMethods.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kMethods[i].name;
  return names;
}();

}  // namespace

std::span<const ScaleMethod> scale_methods() { return kMethods; }

std::span<const Named<FitScaleMethod>> fit_scale_methods() { return kNames; }

std::string_view fit_scale_method_name(FitScaleMethod method) {
  return std::ranges::find(kNames, method, &Named<FitScaleMethod>::value)->name;
}

namespace {

// The scales that are tried: from a little above that of the maximum down to 1 / 4096 of it, then
// around the best of these. If few numbers are large, several scales are nearly as good; for small
// floats there is one in each octave.
constexpr int kOctavesAbove = 1;
constexpr int kOctavesBelow = 12;
constexpr int kCoarse = 16;  // steps in an octave
constexpr int kFine = 128;
constexpr std::size_t kAround = 3;
constexpr int kSteps = 4;  // iterations towards the scale that is best for the codes

// The sum of squared errors of the numbers of `sums`, all read as one.
double squares_as(const Magnitudes::Sums& sums, double read) {
  return sums.squares - 2 * read * sums.sum + read * read * sums.count;
}

Magnitudes::Sums between(const Magnitudes::Sums& begin, const Magnitudes::Sums& end) {
  return {end.count - begin.count, end.sum - begin.sum, end.squares - begin.squares};
}

}  // namespace

CodeGrid::CodeGrid(DType dtype) {
  for (std::uint64_t code = 0; code < std::uint64_t{1} << info(dtype).bits; ++code) {
    const double value = value_double(dtype, code);
    if (std::isfinite(value) && value >= 0) values_.push_back(std::abs(value));
  }
  std::ranges::sort(values_);
  const auto again = std::ranges::unique(values_);
  values_.erase(again.begin(), again.end());
}

CodeGrid::Trial CodeGrid::attempt(const Magnitudes& magnitudes, double scale) const {
  Trial trial;
  double fitted = 0;   // sum of value * number
  double weights = 0;  // sum of value^2
  Magnitudes::Sums before;
  for (std::size_t code = 0; code < values_.size(); ++code) {
    const double value = values_[code];
    const bool last = code + 1 == values_.size();
    const Magnitudes::Sums end =
        magnitudes.up_to(last ? HUGE_VAL : scale * (value + values_[code + 1]) / 2);
    const Magnitudes::Sums own = between(before, end);
    trial.squares += squares_as(own, scale * value);
    fitted += value * own.sum;
    weights += value * value * own.count;
    if (end.count == static_cast<double>(magnitudes.count())) break;
    before = end;
  }
  const double last = scale * values_.back();
  if (last < magnitudes.largest())
    trial.beyond = squares_as(between(magnitudes.up_to(last), magnitudes.up_to(HUGE_VAL)), last);
  trial.better = weights > 0 ? fitted / weights : scale;
  return trial;
}

double least_squares_scale(const Magnitudes& magnitudes, const CodeGrid& grid) {
  const double top = magnitudes.largest() / grid.largest();
  struct Tried {
    double squares = 0;
    double scale = 0;
  };
  Tried best{grid.attempt(magnitudes, top).squares, top};
  const auto attempt = [&](double scale) {
    const CodeGrid::Trial trial = grid.attempt(magnitudes, scale);
    if (trial.squares < best.squares) best = {trial.squares, scale};
    return trial;
  };
  std::vector<Tried> coarse;
  for (int step = -kOctavesAbove * kCoarse; step <= kOctavesBelow * kCoarse; ++step) {
    const double scale = top * std::exp2(-static_cast<double>(step) / kCoarse);
    const CodeGrid::Trial trial = attempt(scale);
    coarse.push_back({trial.squares, scale});
    if (trial.beyond > best.squares) break;  // smaller scales only clip more
  }
  const auto around = std::min(kAround, coarse.size());
  std::ranges::partial_sort(coarse, coarse.begin() + static_cast<std::ptrdiff_t>(around), {},
                            &Tried::squares);
  for (const Tried& near : std::span(coarse).first(around))
    for (int step = -kFine / kCoarse; step <= kFine / kCoarse; ++step)
      attempt(near.scale * std::exp2(static_cast<double>(step) / kFine));
  double next = best.scale;
  for (int step = 0; step < kSteps; ++step) next = attempt(next).better;
  return best.scale;
}

}  // namespace btf
