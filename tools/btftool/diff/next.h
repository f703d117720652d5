// The command to type next after a comparison of many tensors.
#pragma once

#include <string>

#include "btf/diff/set_diff.h"
#include "cli/options.h"

namespace btftool {

// Shows where this pair of tensors differs, judged as it was. Empty: the report has shown that, or
// there are no files to name.
std::string next_command(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                         const btf::TensorDiff& diff);

}  // namespace btftool
