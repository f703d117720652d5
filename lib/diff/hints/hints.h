// Finds the likely cause of a difference: on a sample first, then confirmed on the whole tensors.
#pragma once

#include <vector>

#include "btf/diff.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "diff/hints/evidence/search_context.h"

namespace btf {

// For two dense sides of equal rank but different dims: looks for `padded`, where the elements at
// indices that both sides have are equal but for rounding to the coarser dtype, and all elements on
// one side only are one number. A sample decides whether it is worth reading everything; a hint is
// returned only if every element was compared. Returns at most one hint.
Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution);

// The best explanation, or an empty vector if nothing explains the data. Works in bounded memory.
Result<std::vector<Hint>> find_hints(const HintInput& input);

}  // namespace btf
