// One tensor's row in a report on many tensors.
#pragma once

#include <string>

#include "btf/report/report.h"
#include "report/diff/set_table.h"

namespace btf::report {

// The label of a tensor: "conv1", "tensor 3" in a file without names, "m.npz: conv1"
// where names of several files may be the same.
std::string set_name(const TensorDiff& diff, const FilePair& pair, bool directories);

SetRow set_row(const TensorDiff& diff, std::string name);

// The row of a pair of files without tensors: one is missing, unreadable or empty.
SetRow set_row(const FilePair& pair, const PairOutcome& outcome);

}  // namespace btf::report
