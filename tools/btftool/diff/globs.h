// Names by globs: `*` matches slashes too.
#pragma once

#include <string>

#include "btf/diff/tensor_diff.h"
#include "btf/tensor_set.h"
#include "cli/options.h"

namespace btftool {

bool glob_matches(const std::string& glob, const std::string& name);

// By its path below the directory, or the end of that.
bool glob_matches_path(const std::string& glob, const std::string& path);

// By its name, or its path.
bool glob_matches(const std::string& glob, const btf::SetMember& member);

// By the name that either side has.
bool glob_matches(const std::string& glob, const btf::TensorDiff& diff);

// What the rules by names give for a tensor: of those that match, the last.
btf::Tolerance tolerance_by_name(const DiffCommand& command, const btf::TensorDiff& diff);

}  // namespace btftool
