// Adds up the values of one index of a COO record.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cast/kernel_table.h"
#include "kernels/number/exact_sum.h"

namespace btf {

// The exact sum of values of job.from, rounded once: to job.to.
class CooSum {
 public:
  explicit CooSum(const CastJob& job) : job_(job) {}

  void add(std::uint64_t code);

  // Adds one element, and what it lost, to the account.
  std::uint64_t code(LossAccount& account) const;

  // As far as 63 bits say it, and as far as a double does.
  Number value() const;
  std::string text() const;

 private:
  std::uint64_t encode(LossAccount& account) const;

  CastJob job_;
  ExactSum sum_;
  bool nan_ = false;
  bool positive_inf_ = false;
  bool negative_inf_ = false;
  bool only_negative_zeros_ = true;
};

}  // namespace btf
