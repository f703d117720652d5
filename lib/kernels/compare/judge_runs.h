// The pairs of a run judged one by one, and questions about the errors of many. Every CPU computes
// the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/compare/compare.h"

namespace btf {

// A summary of a run of pairs.
struct RunSummary {
  double largest_error = 0;   // of pairs of finite numbers
  double least_error = 0;     // of those that differ; Inf if none does
  double least_golden = 0;    // no |golden| is less
  std::uint64_t equal = 0;    // pairs of finite numbers without an error
  std::uint64_t special = 0;  // pairs with NaN or Inf
  std::uint64_t refused = 0;
};

// As many as a loop has registers for.
struct AtLeast {
  static constexpr std::size_t kLimits = 4;
  using Limits = std::array<double, kLimits>;

  std::array<std::uint64_t, kLimits> count{};
};

struct JudgeRuns {
  // error: absolute, NaN where NaN or Inf is involved. refused: the same of refused pairs, 0 of
  // accepted ones.
  RunSummary (*judge)(const double* actual, const double* golden, std::uint64_t count,
                      const Judge& judge, double* error, double* refused);
  // How many errors are not below each limit. NaN is below all.
  AtLeast (*at_least)(const double* error, std::uint64_t count, const AtLeast::Limits& limits);
  // The largest error / |golden|, if that is at least about `bar`, a finite number; else 0. NaN is
  // passed over.
  double (*largest_relative)(const double* error, const double* golden, std::uint64_t count,
                             double bar);
  // Are all numbers finite, and those of each pair at one position of a grid of floats?
  bool (*same_steps)(const double* actual, const double* golden, std::uint64_t count,
                     const StepGrid& grid);
  // Has any of the numbers from `first` on a rank of at least `least`?
  bool (*any_scattered)(std::uint64_t first, std::uint64_t count, std::uint32_t least);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
const JudgeRuns& judge_runs();

// The number's rank: as good as random, and the same in every run.
inline std::uint32_t scattered(std::uint64_t number) {
  std::uint32_t x =
      static_cast<std::uint32_t>(number) ^ static_cast<std::uint32_t>(number >> 32) * 0x9e3779b1U;
  x = (x ^ x >> 16) * 0x85ebca6bU;
  x = (x ^ x >> 13) * 0xc2b2ae35U;
  return x ^ x >> 16;
}

}  // namespace btf
