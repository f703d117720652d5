// Walks two tensors of the same dims side by side, scores every pair of elements, and keeps the
// largest errors.
#pragma once

#include "btf/execution.h"
#include "diff/pairs/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// Walks two tensors of the same dims side by side and scores every pair of elements.

// A tolerance that is effective() made ready for both sides. Codes step by their scale, of both
// sides by the larger one; where one has several, by the dtype of the other.
Judge judge_of(const Tolerance& effective, const DiffSide& actual, const DiffSide& golden);

// The score; the same for any number of threads.
Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                                 const Execution& execution);

}  // namespace btf
