// Files beside the tensors of two sets, compared byte for byte.
#pragma once

#include <vector>

#include "btf/diff/set_diff.h"

namespace btf {

// The files of both sides, by their places.
std::vector<FilePair> pair_others(const TensorSet& actual, const TensorSet& golden,
                                  const MemberFilter& wanted);

// An error: they cannot be read.
Result<PairOutcome> compare_bytes(const FilePair& pair);

}  // namespace btf
