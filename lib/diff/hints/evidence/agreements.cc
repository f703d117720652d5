#include "diff/hints/evidence/agreements.h"

#include <utility>

#include "diff/hints/evidence/shown_grid.h"
#include "diff/hints/evidence/wording.h"
#include "diff/score/compare_walk.h"
#include "kernels/compare/criteria.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

// "float16's rounding", of the dtype whose steps count.
std::string lenience(const StepGrid& grid, DType actual, DType golden, const std::string& what) {
  const auto owner = owner_of(grid, actual, golden);
  return (owner ? name_of(*owner) + "'s " : "") + what;
}

// Also by the tolerance of --close: two computations of the same thing differ by that much,
// whatever tolerance the user gave.
void add_close(const HintInput& input, Agreement base, const Judge& close, const std::string& name,
               std::vector<Agreement>& all) {
  const bool wider = close.rtol > input.judge.rtol || close.atol > input.judge.atol ||
                     (close.half_step && !input.judge.half_step);
  if ((close.rtol == 0 && close.atol == 0) || !wider) return;
  all.push_back(std::move(base));
  all.back().close = close;
  all.back().lenience = name;
}

// Then by the grid that the bits of a side show.
void add_shown(const HintInput& input, const Sample& sample, std::vector<Agreement>& all) {
  const auto shown = shown_grid(input, sample);
  if (!shown) return;
  Agreement rounded = all.back();
  rounded.grid = shown->grid;
  rounded.half_step_of_actual = shown->half_step_of_actual;
  rounded.half_step_of_golden = shown->half_step_of_golden;
  if (const double half = shown->half_step_of_actual + shown->half_step_of_golden; half > 0) {
    constexpr double kBlur = 0x1p-20;  // float32 does not hold multiples exactly
    rounded.close = Judge{.rtol = kBlur, .atol = half, .grid = input.judge.grid};
  }
  rounded.lenience = shown->dtype ? shown->name + "'s rounding" : "rounding to " + shown->name;
  all.push_back(rounded);
  if (!shown->dtype) return;
  const Grid grid{.dtype = *shown->dtype};
  const Judge close = judge_of(effective({.close = true}, grid, grid), grid.dtype, grid.dtype);
  add_close(input, rounded, close, shown->name + "'s tolerance", all);
}

}  // namespace

Judge close_judge(const HintInput& input) {
  return judge_of(effective({.close = true}, input.judge.actual, input.judge.golden), input.actual,
                  input.golden);
}

Agreement strict_agreement(const Judge& judge, DType actual, DType golden) {
  Agreement strict{.judge = judge,
                   .grid = judge.grid,
                   .narrow = fits_double(actual) && fits_double(golden),
                   .lenience = lenience(judge.grid, actual, golden, "rounding")};
  strict.judge.equal_nan = true;
  return strict;
}

bool by_shown_grid(const Agreement& agreement) {
  const StepGrid& own = agreement.judge.grid;
  return agreement.half_step_of_actual + agreement.half_step_of_golden > 0 ||
         agreement.grid.precision != own.precision || agreement.grid.integer != own.integer ||
         agreement.grid.least_exponent != own.least_exponent;
}

std::vector<Agreement> agreements(const HintInput& input, const Sample& sample) {
  const DType actual = input.actual.dtype();
  const DType golden = input.golden.dtype();
  std::vector<Agreement> all{strict_agreement(input.judge, actual, golden)};
  add_close(input, all.front(), close_judge(input),
            lenience(input.judge.grid, actual, golden, "tolerance"), all);
  add_shown(input, sample, all);
  return all;
}

}  // namespace btf::hints
