// Sums, extremes and mismatches of runs of pairs, in vectors. The results are the same on every
// CPU.
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

// Sums over pairs of finite numbers. Sum is a double, lanes of doubles, or a compensated sum.
template <typename Sum>
struct FigureSums {
  Sum error{};  // actual - golden
  Sum abs_error{};
  Sum error2{};
  Sum actual2{};
  Sum golden{};
  Sum golden2{};
  Sum product{};

  // Calls add(sum, term) for each sum with the term of this pair.
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

  // Calls add(sum, other_sum) for each sum with the corresponding one of `other`.
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

// Returns true if a sum of squares is exact enough in doubles: smaller ones lose digits, and larger
// ones are Inf.
inline bool has_exact_squares(double sum) { return sum > 1e-280 && std::isfinite(sum); }

struct CompareRuns {
  // The run must not contain NaN or Inf.
  RunSums (*sums)(const double* actual, const double* golden, std::uint64_t count);
  // The largest of left_to_accept(); NaN is ignored.
  double (*least_atol)(const double* error, const double* golden, std::uint64_t count, double rtol);
  // Returns true if no magnitude is above `most`; NaN counts as above.
  bool (*within)(const double* values, std::uint64_t count, double most);
};

// The functions of the level in use (kernels/cpu/cpu_level.h).
const CompareRuns& compare_runs();

// The part of an error that atol must accept in addition to rtol. The margin is larger than the
// rounding errors of the comparison.
inline double left_to_accept(double error, double golden, double rtol) {
  return error * (1 + 0x1p-50) - rtol * std::abs(golden);
}

// Combines two tolerances; `special` takes precedence.
Tolerance overlaid(const Tolerance& general, const Tolerance& special);

// Replaces `close` by the tolerance of the coarser grid (docs/dtypes.md, section 6).
Tolerance effective(const Tolerance& asked, const Grid& a, const Grid& b);

// Returns true if `count` codes of buffer_bytes() are the same on both sides and none is NaN or
// Inf, which is the most common result of a comparison.
bool same_finite_bits(DType dtype, const std::byte* a, const std::byte* b, std::uint64_t count);

// 64-bit integers: if both numbers of a pair are at most 2^52, they and their difference are exact
// doubles and are compared as such; all other pairs are compared as long double.
inline constexpr double kMaxAsDouble = 0x1p52;

inline bool compares_as_double(long double actual, long double golden) {
  constexpr long double kMax = kMaxAsDouble;
  return std::abs(actual) <= kMax && std::abs(golden) <= kMax;
}

// The values may have been rounded to double: no number outside the range is rounded into it.
inline bool all_compare_as_double(const double* values, std::uint64_t count) {
  return compare_runs().within(values, count, kMaxAsDouble);
}

// Converts both sides to doubles. Returns false if a pair cannot be compared as doubles.
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

// The largest values in a run of pairs of finite numbers.
struct RunExtremes {
  double error = 0;
  double relative = 0;      // error / |golden|
  std::uint64_t steps = 0;  // by the judge's grid
  std::uint64_t refused = 0;
  // False if some error or limit is not a double, so that exact arithmetic must decide.
  bool clear = true;
};

// Real is float or double.
template <typename Real>
struct ScoreRuns {
  // A fast check, since most runs only change the counts of a score. Returns true if all numbers
  // are finite and no maximum of the score grows, so that only `mismatched` changes, by `refused`.
  // False means that this is not known.
  bool (*no_new_max)(const Real* actual, const Real* golden, std::uint64_t count,
                     const Judge& judge, const CompareScore& score, std::uint64_t& refused);
  // For finite numbers.
  RunExtremes (*extremes)(const Real* actual, const Real* golden, std::uint64_t count,
                          const Judge& judge);
};

// The functions of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ScoreRuns<Real>& score_runs();

// A summary of a run of pairs.
struct RunSummary {
  double largest_error = 0;   // of pairs of finite numbers
  double least_error = 0;     // of pairs that differ; Inf if none does
  double least_golden = 0;    // a lower bound of |golden|
  std::uint64_t equal = 0;    // pairs of finite numbers without an error
  std::uint64_t special = 0;  // pairs with NaN or Inf
  std::uint64_t refused = 0;
};

// The number of errors from each limit on. There are as many limits as a loop has registers for.
struct AtLeast {
  static constexpr std::size_t kLimits = 4;
  using Limits = std::array<double, kLimits>;

  std::array<std::uint64_t, kLimits> count{};
};

struct JudgeRuns {
  // Sets `error` to absolute errors, NaN if NaN or Inf is involved, and `refused` to the same for
  // refused pairs and 0 for accepted ones.
  RunSummary (*judge)(const double* actual, const double* golden, std::uint64_t count,
                      const Judge& judge, double* error, double* refused);
  // Counts the errors that are not below each limit; NaN is below all.
  AtLeast (*at_least)(const double* error, std::uint64_t count, const AtLeast::Limits& limits);
  // The largest error / |golden| if it is at least about `bar`, which must be finite; otherwise 0.
  // NaN is ignored.
  double (*largest_relative)(const double* error, const double* golden, std::uint64_t count,
                             double bar);
  // Returns true if all numbers are finite and both of each pair have the same position on a grid
  // of floats.
  bool (*same_steps)(const double* actual, const double* golden, std::uint64_t count,
                     const StepGrid& grid);
  // Returns true if scattered() of any of `count` numbers from `first` on is at least `least`.
  bool (*any_scattered)(std::uint64_t first, std::uint64_t count, std::uint32_t least);
};

// The functions of the level in use (kernels/cpu/cpu_level.h).
const JudgeRuns& judge_runs();

// A hash of the number.
inline std::uint32_t scattered(std::uint64_t number) {
  std::uint32_t x =
      static_cast<std::uint32_t>(number) ^ static_cast<std::uint32_t>(number >> 32) * 0x9e3779b1U;
  x = (x ^ x >> 16) * 0x85ebca6bU;
  x = (x ^ x >> 13) * 0xc2b2ae35U;
  return x ^ x >> 16;
}

struct SideSums {
  double sum = 0;
  double square = 0;
  double largest = 0;      // magnitude
  std::uint64_t bits = 0;  // the bits of significands that any number has, without the leading ones
};

struct ErrorSums {
  double error = 0;  // actual - golden
  double square = 0;
  double product = 0;  // error * golden
  double largest = 0;  // |error|
  std::uint64_t equal = 0;
  std::uint64_t at_limit = 0;  // |actual| >= limit > |golden|
};

// The sums of both sides. Those of actual are left out, since they follow from the others.
struct PairSums {
  ErrorSums errors{};  // at_limit is not set
  SideSums golden{};
  double actual_largest = 0;
  std::uint64_t actual_bits = 0;
};

// Real is float or double; floats give the same results as when converted to doubles.
template <typename Real>
struct ErrorRuns {
  // If numbers are not finite, the sums are not finite either.
  PairSums (*pairs)(const Real* actual, const Real* golden, std::uint64_t count);
  SideSums (*side)(const Real* values, std::uint64_t count);
  ErrorSums (*errors)(const Real* actual, const Real* golden, std::uint64_t count, double limit);
  // Adds the squares of errors and of golden element by element.
  void (*squares)(const Real* actual, const Real* golden, std::uint64_t count, double* error2,
                  double* golden2);
};

// The functions of the level in use (kernels/cpu/cpu_level.h).
template <typename Real>
const ErrorRuns<Real>& error_runs();

}  // namespace btf
