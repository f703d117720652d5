// Compares runs of real numbers and keeps the score.
#pragma once

#include <cstdint>
#include <limits>

#include "btf/diff.h"

namespace btf {

// A pair of elements and where it is: `at` is whatever the caller counts positions in.
struct ScoredPair {
  bool set = false;
  std::uint64_t at = 0;
  double error = -1;  // by which it was chosen
};

struct CompareScore {
  std::uint64_t compared = 0;
  std::uint64_t mismatched = 0;
  double max_abs = 0;     // over pairs of finite numbers
  double max_rel = 0;     // |actual - golden| / |golden|; Inf where only golden is 0
  double least_atol = 0;  // that alone would accept every pair of finite numbers; Inf if none would
  double least_rtol = 0;  // likewise
  NanCount nan;
  InfCount inf;
  // True if every mismatch is one of finite numbers, so that some tolerance would accept it.
  bool curable = true;
  ScoredPair worst_abs;  // among the mismatches of finite numbers
  ScoredPair worst_rel;
  ScoredPair worst_special;  // the first mismatch with NaN or Inf

  void add(const CompareScore& other);
};

// The pairs stand at positions at, at + stride, ... Real is double or long double.
template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count,
                 const Tolerance& tolerance, std::uint64_t at, std::uint64_t stride,
                 CompareScore& score);

// The same for `count` pairs that are all alike.
template <typename Real>
void compare_many(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                  std::uint64_t at, CompareScore& score);

struct PairError {
  double abs = 0;
  double rel = 0;
};

// As compare_run() scores it.
template <typename Real>
PairError error_of(Real actual, Real golden);

// Is this pair accepted?
template <typename Real>
bool accepts(Real actual, Real golden, const Tolerance& tolerance);

}  // namespace btf
