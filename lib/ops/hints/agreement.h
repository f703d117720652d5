// When a pair agrees as far as the search for causes goes: what the user accepts, and what is the
// same number once it is rounded to the coarser dtype.
#pragma once

#include <cmath>
#include <optional>

#include "kernels/compare.h"
#include "kernels/steps.h"

namespace btf::hints {

struct Agreement {
  Judge judge;                 // NaN equals NaN
  std::optional<Judge> close;  // accepted as well: two computations of the same thing
};

template <typename Real>
bool agrees(Real actual, Real golden, const Agreement& agreement) {
  if (actual == golden || accepts(actual, golden, agreement.judge)) return true;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  if (agreement.close && accepts(actual, golden, *agreement.close)) return true;
  return steps_between(actual, golden, agreement.judge.grid) == 0;
}

}  // namespace btf::hints
