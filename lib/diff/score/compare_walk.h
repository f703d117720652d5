// Walks over two tensors of the same dims, scores every pair of elements, and keeps the largest
// errors.
#pragma once

#include "btf/execution.h"
#include "diff/sides/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// The judge for a tolerance that effective() has completed for both sides. Steps of codes are their
// scale, the larger one of both sides; if a side has several scales, steps are those of the other
// side's dtype.
Judge judge_of(const Tolerance& effective, const DiffSide& actual, const DiffSide& golden);

// The score. It does not depend on the number of threads.
Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                                 const Execution& execution);

}  // namespace btf
