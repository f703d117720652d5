// A simple set of indices along one axis that holds all mismatches, and how surprising that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace btf::hints {

struct IndexRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  // the last one
};

// Indices in one of some ranges, which are ascending and apart; with a period, remainders by it in
// the only one.
struct IndexSet {
  std::uint64_t period = 0;
  std::vector<IndexRange> ranges{};

  bool holds(std::uint64_t index) const;
  // How many of its indices are below this one, which it holds.
  std::uint64_t rank(std::uint64_t index) const;
  std::uint64_t count(std::uint64_t size) const;  // of the indices below `size`
  // "= 17", ">= 112", "< 4", "in 8..15", "% 8 >= 5", "= 5 or 40", "in 3..9, 12 or 40..44"
  std::string text(std::uint64_t size) const;
};

struct SurprisingSet {
  IndexSet set;
  double bits = 0;  // -log2 of the chance that so many at random fall into such a set
};

// Are all mismatches counted, or some of them? Of some it is not known whether an index has none.
enum class Counted : bool { some, all };

// How many mismatches are at each index of an axis: all of them where the axis is short, else their
// remainders, the ends of those in each part of the axis, and which indices have any.
class AxisCounts {
 public:
  // `single`: an index is one element, and is added once.
  explicit AxisCounts(std::uint64_t size, bool single = false);

  void add(std::uint64_t index, std::uint64_t count = 1);
  void add(const AxisCounts& other);

  std::uint64_t size() const { return size_; }
  // A period has at least three places, and mismatches at every index that follows from it.
  SurprisingSet tightest(Counted counted) const;

 private:
  bool whole() const { return by_index_.size() == size_; }
  std::uint64_t part_of(std::uint64_t index) const;
  std::vector<IndexRange> hit_ranges() const;
  std::uint64_t hit_indices() const;
  SurprisingSet interval() const;
  SurprisingSet places() const;
  SurprisingSet periodic(Counted counted) const;

  std::uint64_t size_;
  bool single_;
  std::uint64_t total_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
  std::vector<std::uint64_t> by_index_;  // by index, or by index % its length
  // Of a long axis:
  std::vector<IndexRange> parts_{};   // from the least to the most that is hit in each; low > high
                                      // where none is
  std::vector<std::uint64_t> hit_{};  // a bit for each index; empty where these would be too many
};

}  // namespace btf::hints
