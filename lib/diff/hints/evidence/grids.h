// Which grid the numbers of a side are on, as codes or rounding make it, and what the limits of a
// dtype do to numbers.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/number/steps.h"

namespace btf::hints {

// Numbers of limited significant bits, none of them below 2^least().
class BinaryGrid {
 public:
  // The coarsest grid that has all the numbers; unset if they are all 0.
  static std::optional<BinaryGrid> of(const std::vector<long double>& numbers);

  bool has(long double number) const;
  // Whether `number` is less than a step of the grid away from `other`.
  bool less_than_a_step(long double other, long double number) const;
  // The distance from `number` to the next number of the grid.
  long double step_at(long double number) const;

  int precision() const { return precision_; }
  int least() const { return least_; }

 private:
  int precision_ = 0;
  int least_ = std::numeric_limits<int>::max();
};

// Numbers that are multiples of a step apart, up to float32's rounding.
class EvenGrid {
 public:
  static std::optional<EvenGrid> of(std::vector<long double> numbers);

  bool has(long double number) const;
  bool less_than_a_step(long double other, long double number) const;

  long double step() const { return step_; }

 private:
  // The greatest common divisor, by Euclid's algorithm.
  long double common(long double a, long double b) const;

  long double first_ = 0;
  long double step_ = 0;
  long double blur_ = 0;
};

// The step of a dtype's grid at a number.
long double step_of(const StepGrid& grid, long double number);

// Whether the differences are rounding and nothing else: one side is on a coarser grid, and each of
// its numbers is one of the two grid points around the other side's number.

// Grids are significant bits down to a least power of two, as floats and integers have them, and
// multiples of any number. Rounding follows golden's numbers wherever they are, so no other
// conclusion may be drawn from where or how far it shows.
bool looks_rounded(std::span<const Point> mismatches, std::span<const Point> anywhere);

// The step of which all sampled numbers of a side are multiples apart, as dequantised numbers are;
// the larger one if both sides have one.
std::optional<long double> even_step(std::span<const Point> mismatches,
                                     std::span<const Point> anywhere);

// A grid that the bits of one side show although its dtype is finer, as of float16 kept in float32,
// or of int8 codes times their scale.

struct InferredGrid {
  std::string name;                // "float16", "multiples of 0.03"
  std::optional<DType> dtype{};    // whose numbers they are; unset if of no dtype
  StepGrid grid{};                 // of floats; otherwise that of the two dtypes
  double half_step_of_actual = 0;  // where the grid is of multiples; both sides can have one
  double half_step_of_golden = 0;
};

// Unset where rounding to the grid would change almost nothing of the other side, or where it is
// hardly coarser than the dtypes.
std::optional<InferredGrid> inferred_grid(const HintInput& input, const Sample& sample);

// The range of a dtype, computed from its row in the table of dtypes.

struct Limits {
  long double lowest = 0;  // of finite numbers
  long double highest = 0;
  long double rounds_over = 0;  // floats: numbers from here on round to more than `highest`
  bool has_inf = false;
  bool has_nan = false;
};

Limits limits_of(DType dtype);

// A number clamped to the range of a dtype that saturates; unchanged for a dtype with Inf.
template <typename Real>
Real saturated(Real value, const Limits& limits) {
  if (limits.has_inf) return value;
  if (value > static_cast<Real>(limits.highest)) return static_cast<Real>(limits.highest);
  if (value < static_cast<Real>(limits.lowest)) return static_cast<Real>(limits.lowest);
  return value;
}

// A quick test for runs of pairs that differ by no more than rounding to the coarser dtype, as
// nearly all runs do of a tensor that was stored in one.

// True: all numbers are finite, and each pair is 0 steps apart on a grid of floats. False: unknown.
inline bool same_steps_everywhere(const PairRun<double>& run, const StepGrid& grid) {
  return !grid.integer && judge_runs().same_steps(run.actual, run.golden, run.values(), grid);
}
inline bool same_steps_everywhere(const PairRun<long double>&, const StepGrid&) { return false; }

}  // namespace btf::hints
