// Is one of two tensors of different dims the other with padding behind it?
#pragma once

#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/diff/tensor_diff.h"
#include "diff/hints/evidence/hint_input.h"

namespace btf {

// Two dense sides of one rank: elements at indices of both are the same, but for rounding to the
// coarser dtype, and those on one side only are all one number. Named only if every element was
// compared; a sample decides whether that is worth it. At most one hint.
Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution);

}  // namespace btf
