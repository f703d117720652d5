// A run of tensors that are the same, told one by one or folded into one line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "io/output.h"

namespace btftool {

class SameRun {
 public:
  void add(const btf::TensorDiff& diff, const Output& paint);

  std::uint64_t count() const { return count_; }
  // A line a tensor, if the run is so short that these are kept; otherwise none.
  const std::vector<std::string>& lines() const { return lines_; }
  // All in one line, which of a single tensor is its own.
  std::string folded(const Output& paint) const;
  // "12 tensors, 480 elements, worst error 0.001"
  std::string summary() const;

 private:
  static constexpr std::uint64_t kKept = 16;

  std::uint64_t count_ = 0;
  std::vector<std::string> lines_;
  std::uint64_t first_ = 0;  // indices in actual
  std::uint64_t last_ = 0;
  bool consecutive_ = true;  // same indices on both sides, one after the other
  std::uint64_t compared_ = 0;
  std::uint64_t mismatched_ = 0;
  std::string refused_;
  double max_abs_ = 0;
  btf::NanCount nan_;
  btf::InfCount inf_;
};

}  // namespace btftool
