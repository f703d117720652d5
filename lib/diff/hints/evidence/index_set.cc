#include "diff/hints/evidence/index_set.h"

#include <algorithm>
#include <cmath>

namespace btf::hints {
namespace {

constexpr std::uint64_t kLongest = 1U << 14;  // axes up to here are counted index by index
constexpr std::uint64_t kRemainders = 4096;   // of longer ones; its divisors are the periods
constexpr std::uint64_t kLongestPeriod = 512;

// Chance that all of `count` at random are in some set of this share that was chosen to hold them:
// about count^2 * share^(count - 1) for the range of points on a line.
double surprise(std::uint64_t count, double share, double choices) {
  if (share >= 1) return 0;
  const auto n = static_cast<double>(count);
  return std::max(0.0, (n - 1) * -std::log2(share) - 2 * std::log2(n) - std::log2(choices));
}

}  // namespace

std::uint64_t IndexSet::count(std::uint64_t size) const {
  if (period == 0) return high - low + 1;
  const std::uint64_t rest = size % period;
  const std::uint64_t in_rest = rest <= low ? 0 : std::min(rest, high + 1) - low;
  return size / period * (high - low + 1) + in_rest;
}

std::string IndexSet::text(std::uint64_t size) const {
  const std::string start = period == 0 ? "" : "% " + std::to_string(period) + " ";
  const std::uint64_t last = (period == 0 ? size : period) - 1;
  if (low == high) return start + (period == 0 ? "= " : "== ") + std::to_string(low);
  if (high == last) return start + ">= " + std::to_string(low);
  if (low == 0) return start + "< " + std::to_string(high + 1);
  return start + "in " + std::to_string(low) + ".." + std::to_string(high);
}

AxisCounts::AxisCounts(std::uint64_t size)
    : size_(size), by_index_(size <= kLongest ? size : kRemainders) {}

void AxisCounts::add(std::uint64_t index, std::uint64_t count) {
  total_ += count;
  least_ = std::min(least_, index);
  most_ = std::max(most_, index);
  by_index_[index < by_index_.size() ? index : index % by_index_.size()] += count;
}

void AxisCounts::add(const AxisCounts& other) {
  total_ += other.total_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
  for (std::size_t i = 0; i < by_index_.size(); ++i) by_index_[i] += other.by_index_[i];
}

SurprisingSet AxisCounts::interval() const {
  const IndexSet set{0, least_, most_};
  const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
  return {set, surprise(total_, share, 1)};
}

SurprisingSet AxisCounts::periodic() const {
  SurprisingSet best;
  const bool whole = by_index_.size() == size_;
  for (std::uint64_t period = 2; period <= std::min(kLongestPeriod, size_ / 2); ++period) {
    if (!whole && by_index_.size() % period != 0) continue;
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
    const IndexSet set{period, low, high};
    const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
    // A longer period must be worth it: its divisors say the same with less.
    const double bits = surprise(total_, share, static_cast<double>(kLongestPeriod));
    if (bits > best.bits * 1.01) best = {set, bits};
  }
  return best;
}

SurprisingSet AxisCounts::tightest() const {
  if (total_ == 0 || size_ < 2) return {{0, 0, size_ == 0 ? 0 : size_ - 1}, 0};
  const SurprisingSet line = interval();
  const SurprisingSet comb = periodic();
  return comb.bits > line.bits * 1.01 ? comb : line;
}

}  // namespace btf::hints
