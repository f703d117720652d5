// Evenly spaced numbers: which grid the numbers of a side are on, as codes or rounding make it, and
// what the limits of a dtype leave of it.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "diff/hints/evidence/inquiry.h"
#include "diff/pairs/rows.h"
#include "kernels/compare/judge_runs.h"
#include "kernels/number/steps.h"

namespace btf::hints {

// Grids that numbers are seen to stand on.

// Numbers of limited significant bits, none of them below `least`.
class BinaryGrid {
 public:
  // The coarsest that has all of these; nothing if they are all 0.
  static std::optional<BinaryGrid> of(const std::vector<long double>& numbers);

  bool has(long double number) const;
  // Is `number` less than a step of the grid away from `other`?
  bool less_than_a_step(long double other, long double number) const;
  // From `number` to the next.
  long double step_at(long double number) const;

  int precision() const { return precision_; }
  int least() const { return least_; }

 private:
  int precision_ = 0;
  int least_ = std::numeric_limits<int>::max();
};

// Numbers some multiple of a step apart, give or take what float32 makes of them.
class EvenGrid {
 public:
  static std::optional<EvenGrid> of(std::vector<long double> numbers);

  bool has(long double number) const;
  bool less_than_a_step(long double other, long double number) const;

  long double step() const { return step_; }

 private:
  // The greatest common divisor of both, by Euclid.
  long double common(long double a, long double b) const;

  long double first_ = 0;
  long double step_ = 0;
  long double blur_ = 0;
};

// The step of a dtype's grid at this number.
long double step_of(const StepGrid& grid, long double number);

// Differences that are rounding and no more: one side stands on a coarser grid, and each of its
// numbers is one of the two there that the other side's number lies between.

// Grids are significant bits down to a least power of two, as floats and whole numbers have them,
// and multiples of any number. Rounding follows golden's numbers wherever these stand, so
// nothing else may be concluded from where or how far it shows.
bool looks_rounded(std::span<const Point> mismatches, std::span<const Point> anywhere);

// The step that all sampled numbers of a side are multiples of apart, as numbers made of codes are;
// of both sides the larger one.
std::optional<long double> even_step(std::span<const Point> mismatches,
                                     std::span<const Point> anywhere);

// The grid that the bits of one side show, where its dtype is finer: of float16 kept in float32, of
// int8 codes times their scale.

struct ShownGrid {
  std::string name;                // "float16", "multiples of 0.03"
  std::optional<DType> dtype{};    // whose numbers they are
  StepGrid grid{};                 // of floats; else that of the two dtypes
  double half_step_of_actual = 0;  // of multiples, on which both may stand
  double half_step_of_golden = 0;
};

// Nothing where rounding to it would change next to nothing of the other side, or where it is
// hardly coarser than the dtypes.
std::optional<ShownGrid> shown_grid(const HintInput& input, const Sample& sample);

// The range of a dtype, computed from its row.

struct Limits {
  long double lowest = 0;  // finite numbers
  long double highest = 0;
  long double rounds_over = 0;  // floats: from here on the nearest number would be above `highest`
  bool has_inf = false;
  bool has_nan = false;
};

Limits limits_of(DType dtype);

// A number brought into the range of a dtype that saturates; as it is for one with Inf.
template <typename Real>
Real saturated(Real value, const Limits& limits) {
  if (limits.has_inf) return value;
  if (value > static_cast<Real>(limits.highest)) return static_cast<Real>(limits.highest);
  if (value < static_cast<Real>(limits.lowest)) return static_cast<Real>(limits.lowest);
  return value;
}

// Whole runs of pairs that differ by no more than rounding to the coarser dtype: nearly all runs of
// a tensor that was stored in one.

// Are all numbers finite, and those of each pair at one position of a grid of floats? False:
// perhaps.
inline bool same_steps_everywhere(const PairRun<double>& run, const StepGrid& grid) {
  return !grid.integer && judge_runs().same_steps(run.actual, run.golden, run.values(), grid);
}
inline bool same_steps_everywhere(const PairRun<long double>&, const StepGrid&) { return false; }

}  // namespace btf::hints
