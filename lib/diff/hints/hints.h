// Why do two tensors differ? Looks for causes that engineers meet: on a sample first, confirmed on
// the whole tensors.
#pragma once

#include <vector>

#include "btf/diff/tensor_diff.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "diff/hints/evidence/inquiry.h"

namespace btf {

// Two dense sides of one rank: elements at indices of both are the same, but for rounding to the
// coarser dtype, and those on one side only are all one number. Named only if every element was
// compared; a sample decides whether that is worth it. At most one hint.
Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution);

// Why do two tensors differ? Looks for causes that engineers meet: on a sample first, confirmed on
// the whole tensors.

// The best explanation first; empty when nothing explains the data. Bounded memory.
Result<std::vector<Hint>> find_hints(const HintInput& input);

}  // namespace btf
