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
  Judge judge;                   // NaN equals NaN
  std::optional<Judge> close{};  // accepted as well: two computations of the same thing
  bool narrow = false;           // a double holds every value of both sides
  std::string beyond{};          // " beyond float16's rounding": what the mismatches are beyond, if
                                 // the user accepts less
};

template <typename Real>
bool agrees(Real actual, Real golden, const Agreement& agreement) {
  if (actual == golden || accepts(actual, golden, agreement.judge)) return true;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  if (agreement.close && accepts(actual, golden, *agreement.close)) return true;
  const StepGrid& grid = agreement.judge.grid;
  if (grid.integer && std::abs(actual - golden) >= 1) return false;
  return steps_between(actual, golden, grid) == 0;
}

// With a tolerance so many times as wide.
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
