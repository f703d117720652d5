// 64-bit integers against anything: pairs of which both are at most 2^52 are compared as doubles,
// which hold them and their differences, all others as long double.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/compare/compare_runs.h"

namespace btf {

inline constexpr double kMaxAsDouble = 0x1p52;

inline bool compares_as_double(long double actual, long double golden) {
  constexpr long double kMost = kMaxAsDouble;
  return std::abs(actual) <= kMost && std::abs(golden) <= kMost;
}

// Takes numbers rounded to double: no number outside the range is rounded into it.
inline bool all_compare_as_double(const double* values, std::uint64_t count) {
  return compare_runs().within(values, count, kMaxAsDouble);
}

// Writes both sides as doubles, which they are. False if a pair does not compare as such.
inline bool to_doubles(const long double* actual, const long double* golden, std::uint64_t count,
                       double* actual_out, double* golden_out) {
  bool all = true;
  for (std::uint64_t i = 0; i < count && all; ++i) {
    all = compares_as_double(actual[i], golden[i]);
    actual_out[i] = static_cast<double>(actual[i]);
    golden_out[i] = static_cast<double>(golden[i]);
  }
  return all;
}

}  // namespace btf
