// What is found out of a pair after its score: figures and their limits, where and how the tensors
// differ, and the verdict.
#pragma once

#include "btf/diff.h"
#include "diff/pairs/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// Details of a pair beyond the score: figures, and where and how the tensors differ.

// Completes `diff`, whose counts are those of the score, verdict and hints included.
Status complete(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                const DiffOptions& options, const CompareScore& score, TensorDiff& diff);

}  // namespace btf
