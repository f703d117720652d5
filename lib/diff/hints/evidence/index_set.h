// A simple set of indices along one axis that holds all mismatches, and how surprising that is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace btf::hints {

// Indices in [low, high]; of the remainder by `period` where that is not 0.
struct IndexSet {
  std::uint64_t period = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool holds(std::uint64_t index) const {
    const std::uint64_t at = period == 0 ? index : index % period;
    return at >= low && at <= high;
  }
  std::uint64_t count(std::uint64_t size) const;  // of the indices below `size`
  // "= 17", ">= 112", "< 4", "in 8..15", "% 8 >= 5"
  std::string text(std::uint64_t size) const;
};

struct SurprisingSet {
  IndexSet set;
  double bits = 0;  // -log2 of the chance that so many at random fall into such a set
};

// How many mismatches are at each index of an axis: all of them where the axis is short, else their
// ends and their remainders only.
class AxisCounts {
 public:
  explicit AxisCounts(std::uint64_t size);

  void add(std::uint64_t index, std::uint64_t count = 1);
  void add(const AxisCounts& other);

  std::uint64_t size() const { return size_; }
  SurprisingSet tightest() const;

 private:
  SurprisingSet interval() const;
  SurprisingSet periodic() const;

  std::uint64_t size_;
  std::uint64_t total_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
  std::vector<std::uint64_t> by_index_;  // by index, or by index % its length
};

}  // namespace btf::hints
