// The details of a pair after its score: figures and their limits, where and how the tensors
// differ, and the verdict.
#pragma once

#include "btf/diff.h"
#include "diff/sides/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// Completes `diff`, which has the counts of the score already, including verdict and hints.
Status complete(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                const DiffOptions& options, const CompareScore& score, TensorDiff& diff);

}  // namespace btf
