// What a line of a report on many tensors says of one of them.
#pragma once

#include <string>

#include "btf/report/report.h"
#include "report/diff/set_table.h"

namespace btf::report {

// What a tensor is called among others: "conv1", "tensor 3" of a file without names, "m.npz: conv1"
// where names of several files may be the same.
std::string set_name(const TensorDiff& diff, const FilePair& pair, bool directories);

SetRow set_row(const TensorDiff& diff, std::string name);

// Of a pair of files that has no tensors to tell of: one is missing, cannot be read, or is empty.
SetRow set_row(const FilePair& pair, const PairOutcome& outcome);

}  // namespace btf::report
