#include "diff/hints/evidence/index_set.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace btf::hints {
namespace {

constexpr std::uint64_t kLongest = 1U << 14;  // axes up to here are counted index by index
constexpr std::uint64_t kRemainders = 4096;   // of longer ones; its divisors are the periods
constexpr std::uint64_t kLongestPeriod = 512;
constexpr std::uint64_t kLeastPlaces = 3;     // that a period needs
constexpr std::size_t kMostPlaces = 8;        // that are listed
constexpr std::uint64_t kMostBits = 1U << 22;

// Chance that all of `count` at random are in some ranges of this share that were chosen to hold
// them: about count^2 * share^(count - 1) for the range of points on a line, and likewise for each
// of several.
double surprise(std::uint64_t count, double share, double choices, std::size_t ranges = 1) {
  if (share >= 1 || count <= ranges) return 0;
  const auto n = static_cast<double>(count);
  const auto m = static_cast<double>(ranges);
  return std::max(0.0,
                  (n - m) * -std::log2(share) - 2 * m * std::log2(n) - std::log2(choices));
}

std::uint64_t length(const IndexRange& range) { return range.high - range.low + 1; }

// "17" or "8..15"
std::string range_text(const IndexRange& range) {
  return range.low == range.high ? std::to_string(range.low)
                                 : std::to_string(range.low) + ".." + std::to_string(range.high);
}

}  // namespace

bool IndexSet::holds(std::uint64_t index) const {
  const std::uint64_t at = period == 0 ? index : index % period;
  return std::ranges::any_of(ranges, [&](const IndexRange& range) {
    return at >= range.low && at <= range.high;
  });
}

std::uint64_t IndexSet::rank(std::uint64_t index) const {
  if (period != 0)
    return index / period * length(ranges[0]) + index % period - ranges[0].low;
  std::uint64_t before = 0;
  for (const IndexRange& range : ranges) {
    if (index <= range.high) return before + index - range.low;
    before += length(range);
  }
  return before;
}

std::uint64_t IndexSet::count(std::uint64_t size) const {
  std::uint64_t all = 0;
  if (period == 0) {
    for (const IndexRange& range : ranges) all += length(range);
    return all;
  }
  const auto& [low, high] = ranges[0];
  const std::uint64_t rest = size % period;
  const std::uint64_t in_rest = rest <= low ? 0 : std::min(rest, high + 1) - low;
  return size / period * (high - low + 1) + in_rest;
}

std::string IndexSet::text(std::uint64_t size) const {
  const std::string start = period == 0 ? "" : "% " + std::to_string(period) + " ";
  if (ranges.size() > 1) {
    const bool single = std::ranges::all_of(
        ranges, [](const IndexRange& range) { return range.low == range.high; });
    std::string list = single ? "= " : "in ";
    for (std::size_t i = 0; i < ranges.size(); ++i)
      list += (i == 0 ? "" : i + 1 < ranges.size() ? ", " : " or ") + range_text(ranges[i]);
    return list;
  }
  const auto& [low, high] = ranges[0];
  const std::uint64_t last = (period == 0 ? size : period) - 1;
  if (low == high) return start + (period == 0 ? "= " : "== ") + std::to_string(low);
  if (high == last) return start + ">= " + std::to_string(low);
  if (low == 0) return start + "< " + std::to_string(high + 1);
  return start + "in " + range_text(ranges[0]);
}

AxisCounts::AxisCounts(std::uint64_t size, bool single)
    : size_(size), single_(single), by_index_(size <= kLongest ? size : kRemainders) {
  if (whole()) return;
  parts_.assign(kLongest, {.low = UINT64_MAX, .high = 0});
  if (!single && size <= kMostBits) hit_.assign(size / 64 + 1, 0);
}

std::uint64_t AxisCounts::part_of(std::uint64_t index) const {
  return index / (size_ / parts_.size() + 1);
}

void AxisCounts::add(std::uint64_t index, std::uint64_t count) {
  total_ += count;
  least_ = std::min(least_, index);
  most_ = std::max(most_, index);
  by_index_[index < by_index_.size() ? index : index % by_index_.size()] += count;
  if (parts_.empty()) return;
  IndexRange& part = parts_[part_of(index)];
  part.low = std::min(part.low, index);
  part.high = std::max(part.high, index);
  if (!hit_.empty()) hit_[index / 64] |= std::uint64_t{1} << index % 64;
}

void AxisCounts::add(const AxisCounts& other) {
  total_ += other.total_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
  for (std::size_t i = 0; i < by_index_.size(); ++i) by_index_[i] += other.by_index_[i];
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].low = std::min(parts_[i].low, other.parts_[i].low);
    parts_[i].high = std::max(parts_[i].high, other.parts_[i].high);
  }
  for (std::size_t i = 0; i < hit_.size(); ++i) hit_[i] |= other.hit_[i];
}

// Where mismatches are, apart from gaps that are too short to be seen on a long axis.
std::vector<IndexRange> AxisCounts::hit_ranges() const {
  std::vector<IndexRange> ranges;
  const auto take = [&](const IndexRange& hit) {
    if (!ranges.empty() && ranges.back().high + 1 == hit.low)
      ranges.back().high = hit.high;
    else
      ranges.push_back(hit);
  };
  if (whole()) {
    for (std::uint64_t i = 0; i < by_index_.size(); ++i)
      if (by_index_[i] != 0) take({i, i});
  } else {
    for (const IndexRange& part : parts_)
      if (part.low <= part.high) take(part);
  }
  return ranges;
}

// How many indices have mismatches; 0: that is not known.
std::uint64_t AxisCounts::hit_indices() const {
  if (single_) return total_;
  std::uint64_t count = 0;
  if (whole())
    for (const std::uint64_t at : by_index_) count += at != 0 ? 1 : 0;
  for (const std::uint64_t word : hit_) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

SurprisingSet AxisCounts::interval() const {
  const IndexSet set{0, {{least_, most_}}};
  const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
  return {set, surprise(total_, share, 1)};
}

// Some places apart from each other, the widest gaps between them first.
SurprisingSet AxisCounts::places() const {
  SurprisingSet best;
  const std::vector<IndexRange> hit = hit_ranges();
  std::vector<std::size_t> gaps;  // before these
  for (std::size_t i = 1; i < hit.size(); ++i) gaps.push_back(i);
  const auto width = [&](std::size_t i) { return hit[i].low - hit[i - 1].high; };
  const std::size_t most = std::min(gaps.size(), kMostPlaces - 1);
  std::ranges::partial_sort(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(most),
                            std::ranges::greater{}, width);
  for (std::size_t count = 1; count <= most; ++count) {
    std::vector<std::size_t> starts(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(starts);
    IndexSet set{0, {{hit.front().low, 0}}};
    for (const std::size_t i : starts) {
      set.ranges.back().high = hit[i - 1].high;
      set.ranges.push_back({hit[i].low, 0});
    }
    set.ranges.back().high = hit.back().high;
    const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
    const double bits = surprise(total_, share, 1, set.ranges.size());
    if (bits > best.bits * 1.01) best = {std::move(set), bits};
  }
  return best;
}

SurprisingSet AxisCounts::periodic(Counted counted) const {
  SurprisingSet best;
  const std::uint64_t hits = hit_indices();
  for (std::uint64_t period = 2; period <= std::min(kLongestPeriod, size_ / 2); ++period) {
    if (!whole() && by_index_.size() % period != 0) continue;
    // In one period only, it is an interval.
    if (least_ / period == most_ / period) continue;
    const auto hit = [&](std::uint64_t remainder) {
      for (std::uint64_t i = remainder; i < by_index_.size(); i += period)
        if (by_index_[i] != 0) return true;
      return false;
    };
    // One of them is hit: least_'s.
    std::uint64_t low = 0;
    while (!hit(low)) ++low;
    std::uint64_t high = period - 1;
    while (!hit(high)) --high;
    const IndexSet set{period, {{low, high}}};
    const std::uint64_t count = set.count(size_);
    const std::uint64_t places = (size_ - low + period - 1) / period;
    if (places < kLeastPlaces || (counted == Counted::all && count != hits)) continue;
    const double share = static_cast<double>(count) / static_cast<double>(size_);
    // A longer period must be worth it: its divisors say the same with less.
    const double bits = surprise(total_, share, static_cast<double>(kLongestPeriod));
    if (bits > best.bits * 1.01) best = {set, bits};
  }
  return best;
}

SurprisingSet AxisCounts::tightest(Counted counted) const {
  if (total_ == 0 || size_ < 2) return {{0, {{0, size_ == 0 ? 0 : size_ - 1}}}, 0};
  SurprisingSet best = interval();
  for (SurprisingSet other : {periodic(counted), places()})
    if (other.bits > best.bits * 1.01) best = std::move(other);
  return best;
}

}  // namespace btf::hints
