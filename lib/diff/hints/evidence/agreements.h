// The meanings of agreement that causes are looked for with.
#pragma once

#include <vector>

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

// Accepts errors of rounding to the coarser grid, and the noise of floats.
Judge close_judge(const HintInput& input);

// By what the user accepts, and what is the same number once both are rounded to the coarser dtype.
Agreement strict_agreement(const Judge& judge, DType actual, DType golden);

// Not by the grid of the two dtypes, but by one that the bits of a side show.
bool by_shown_grid(const Agreement& agreement);

// The strict one first; then what also accepts more, the narrower before the wider.
std::vector<Agreement> agreements(const HintInput& input, const Sample& sample);

}  // namespace btf::hints
