// Walks two tensors of the same dims side by side and scores every pair of elements.
#pragma once

#include "btf/execution.h"
#include "diff/pairs/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// The score; the same for any number of threads.
Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                                 const Execution& execution);

}  // namespace btf
