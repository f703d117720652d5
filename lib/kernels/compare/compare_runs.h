// Sums over runs of doubles, with the widest vectors that this CPU has. Every CPU computes the
// same.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "btf/criteria.h"
#include "btf/dtype.h"
#include "kernels/compare/compare.h"
#include "kernels/cpu/cpu_level.h"
#include "kernels/number/grid.h"

namespace btf {

// Sums over pairs of finite numbers, in doubles, in lanes of them, or compensated.
template <typename Sum>
struct FigureSums {
  Sum error{};  // actual - golden
  Sum abs_error{};
  Sum error2{};
  Sum actual2{};
  Sum golden{};
  Sum golden2{};
  Sum product{};

  // add(sum, term): each sum, and what the pair adds to it.
  template <typename Real>
  BTF_INLINE void add_pair(Real a, Real g, auto&& add) {
    add(error, a - g);
    add(abs_error, std::abs(a - g));
    add(error2, (a - g) * (a - g));
    add(actual2, a * a);
    add(golden, g);
    add(golden2, g * g);
    add(product, a * g);
  }

  // add(sum, other's): each sum, and the same one of another.
  template <typename Other>
  BTF_INLINE void add_sums(const FigureSums<Other>& other, auto&& add) {
    add(error, other.error);
    add(abs_error, other.abs_error);
    add(error2, other.error2);
    add(actual2, other.actual2);
    add(golden, other.golden);
    add(golden2, other.golden2);
    add(product, other.product);
  }
};

struct RunSums : FigureSums<double> {
  double largest = 0;  // |golden|
};

// May a sum of squares be computed in doubles? Below this they lose digits; beyond the largest
// double they are Inf.
inline bool has_exact_squares(double sum) { return sum > 1e-280 && std::isfinite(sum); }

struct CompareRuns {
  // The sums of a run without NaN and Inf.
  RunSums (*sums)(const double* actual, const double* golden, std::uint64_t count);
  // The largest of left_to_accept(); NaN is ignored.
  double (*least_atol)(const double* error, const double* golden, std::uint64_t count, double rtol);
  // Is no magnitude larger? NaN is.
  bool (*within)(const double* values, std::uint64_t count, double most);
};

// Those of the level in use (cpu_level.h).
const CompareRuns& compare_runs();

// The part of an error that rtol leaves to atol. The margin is more than accepting can lose
// to its roundings.
inline double left_to_accept(double error, double golden, double rtol) {
  return error * (1 + 0x1p-50) - rtol * std::abs(golden);
}

// Tolerances brought together: what is judged by when two grids meet.

// `special` takes precedence over `general`.
Tolerance overlaid(const Tolerance& general, const Tolerance& special);

// `close` becomes what the coarser grid allows (docs/dtypes.md, section 6).
Tolerance effective(const Tolerance& asked, const Grid& a, const Grid& b);

// The common case of a comparison: both sides hold the same finite numbers.

// Are `count` codes of buffer_bytes() each the same on both sides, without NaN or Inf among them?
bool same_finite_bits(DType dtype, const std::byte* a, const std::byte* b, std::uint64_t count);

// 64-bit integers against anything: pairs of which both are at most 2^52 are compared as doubles,
// which hold them and their differences, all others as long double.

inline constexpr double kMaxAsDouble = 0x1p52;

inline bool compares_as_double(long double actual, long double golden) {
  constexpr long double kMax = kMaxAsDouble;
  return std::abs(actual) <= kMax && std::abs(golden) <= kMax;
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

// Most runs of a comparison change nothing of a score but counts: a look at a run that tells so,
// and what the largest of a run are where it does not. Every CPU computes the same.

// The largest values in a run of pairs of finite numbers.
struct RunExtremes {
  double error = 0;
  double relative = 0;      // error / |golden|
  std::uint64_t steps = 0;  // by the judge's grid
  std::uint64_t refused = 0;
  // False if some error or limit is no double: exact arithmetic has to tell.
  bool clear = true;
};

// Real is float or double.
template <typename Real>
struct ScoreRuns {
  // True if all numbers are finite and none sets a record, so that of the score only `mismatched`
  // changes, by `refused`. False tells nothing.
  bool (*quiet)(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                const CompareScore& score, std::uint64_t& refused);
  // For finite numbers.
  RunExtremes (*extremes)(const Real* actual, const Real* golden, std::uint64_t count,
                          const Judge& judge);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ScoreRuns<Real>& score_runs();

// The pairs of a run judged one by one, and questions about the errors of many. Every CPU computes
// the same.

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

// Sums over runs of numbers, and over runs of pairs. Every CPU computes the same.

struct SideSums {
  double sum = 0;
  double square = 0;
  double largest = 0;      // magnitude
  std::uint64_t bits = 0;  // all bits of significands that are set somewhere, but the leading
};

struct ErrorSums {
  double error = 0;  // actual - golden
  double square = 0;
  double product = 0;  // error * golden
  double largest = 0;  // |error|
  std::uint64_t equal = 0;
  std::uint64_t at_limit = 0;  // |actual| >= limit > |golden|
};

// All of it but the sums of actual, which follow from the others.
struct PairSums {
  ErrorSums errors{};  // without at_limit
  SideSums golden{};
  double actual_largest = 0;
  std::uint64_t actual_bits = 0;
};

// Real is float or double; floats give what they give as doubles.
template <typename Real>
struct ErrorRuns {
  // Also of what is not finite: a sum is not either then.
  PairSums (*pairs)(const Real* actual, const Real* golden, std::uint64_t count);
  SideSums (*side)(const Real* values, std::uint64_t count);
  ErrorSums (*errors)(const Real* actual, const Real* golden, std::uint64_t count, double limit);
  // Adds the squares of errors and of golden, place by place.
  void (*squares)(const Real* actual, const Real* golden, std::uint64_t count, double* error2,
                  double* golden2);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ErrorRuns<Real>& error_runs();

}  // namespace btf
