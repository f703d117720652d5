// Walks two tensors of the same dims side by side and scores every pair of elements.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compare.h"
#include "ops/diff_side.h"

namespace btf {

// The score, with positions as row-major numbers. Deterministic for any number of threads: of
// equally bad pairs the one with the lowest number is kept.
Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden,
                                 const DiffOptions& options);

// Row-major numbers of the first mismatches, at most options.show of them.
Result<std::vector<std::uint64_t>> first_mismatches(const DiffSide& actual, const DiffSide& golden,
                                                    const DiffOptions& options);

}  // namespace btf
