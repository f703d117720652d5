// Files beside the tensors of two directories, compared byte for byte.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "diff/reports.h"

namespace btftool {

// Those of both sides, by their places.
std::vector<FilePair> pair_others(const btf::TensorSet& actual, const btf::TensorSet& golden,
                                  const btf::MemberFilter& wanted);

// An error: they cannot be read.
btf::Result<PairOutcome> compare_bytes(const FilePair& pair);

}  // namespace btftool
