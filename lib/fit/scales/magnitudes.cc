#include "fit/scales/magnitudes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/scale/magnitude_runs.h"
#include "kernels/stats/number_runs.h"

namespace btf {
namespace {

constexpr std::size_t kFew = 4096;
constexpr int kBinShift = 14;  // bits of a float that tell nothing about its bin
constexpr std::size_t kBins = (0x7f800000U >> kBinShift) + 1;

std::size_t bin_of(double magnitude) {
  const double most = std::numeric_limits<float>::max();
  const auto near = static_cast<float>(std::min(magnitude, most));
  return std::bit_cast<std::uint32_t>(near) >> kBinShift;
}

double bin_begin(std::size_t bin) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bin << kBinShift)));
}

// The last one ends at the largest float: what is beyond is counted in it.
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

}  // namespace btf
