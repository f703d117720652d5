// The command to type next after a comparison of many tensors.
#pragma once

#include <string>

#include "btf/diff/set_diff.h"
#include "cli/options.h"

namespace btftool {

// Shows where this pair of tensors differs, judged as it was; that they are the same with other
// dims; or what the files have, where there is nothing to compare. Empty: the report has shown
// that, or there are no files to name.
std::string next_command(const DiffCommand& command, bool directories, const btf::FilePair& pair,
                         const btf::TensorDiff& diff);

// The command that makes this comparison again, whatever shards or parts it came from.
std::string same_command(const DiffCommand& command);

}  // namespace btftool
