// Is one of two tensors of different dims the other with padding behind it?
#pragma once

#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/diff/tensor_diff.h"
#include "diff/hints/evidence/hint_input.h"

namespace btf {

// Of two dense sides of one rank: the elements of the places that both have are the same, but for
// rounding to the coarser dtype, and those that one side has alone are all one number. Said only if
// every element was looked at; a sample decides whether that is worth it. At most one hint.
Result<std::vector<Hint>> find_padding(const DiffSide& actual, const DiffSide& golden,
                                       const Judge& judge, const Execution& execution);

}  // namespace btf
