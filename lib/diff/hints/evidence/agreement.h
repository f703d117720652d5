// When a pair agrees as far as the search for causes goes: what the user accepts, and what is the
// same number once it is rounded to the coarser dtype.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/compare/compare.h"
#include "kernels/number/steps.h"

namespace btf::hints {

struct Agreement {
  Judge judge;                   // the user's; NaN equals NaN
  std::optional<Judge> close{};  // accepted as well: two computations of the same thing
  StepGrid grid{};               // numbers that are the same once rounded to it agree
  // The largest error of rounding a side's numbers to multiples of a number.
  double half_step_of_actual = 0;
  double half_step_of_golden = 0;
  bool narrow = false;           // a double holds every value of both sides
  std::string lenience{};        // "float16's rounding": what is accepted that the user does not
};

template <typename Real>
bool agrees(Real actual, Real golden, const Agreement& agreement) {
  if (actual == golden || accepts(actual, golden, agreement.judge)) return true;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  if (agreement.close && accepts(actual, golden, *agreement.close)) return true;
  const StepGrid& grid = agreement.grid;
  if (grid.integer && std::abs(actual - golden) >= 1) return false;
  return steps_between(actual, golden, grid) == 0;
}

// The same number as far as the user goes.
template <typename Real>
bool accepted(Real actual, Real golden, const Agreement& agreement) {
  return actual == golden || accepts(actual, golden, agreement.judge);
}

// The same with a tolerance this many times as wide.
inline Agreement widened(Agreement agreement, double times) {
  const auto widen = [times](Judge& judge) {
    judge.rtol *= times;
    judge.atol *= times;
    if (judge.ulp != UINT64_MAX)
      judge.ulp = static_cast<std::uint64_t>(static_cast<double>(judge.ulp) * times);
  };
  widen(agreement.judge);
  if (agreement.close) widen(*agreement.close);
  return agreement;
}

// The same of numbers from a sample, which are kept as long double.
inline bool sampled_agree(long double actual, long double golden, const Agreement& agreement) {
  return agreement.narrow
             ? agrees(static_cast<double>(actual), static_cast<double>(golden), agreement)
             : agrees(actual, golden, agreement);
}

}  // namespace btf::hints
