// Files beside the tensors of a directory, which are not read.
#pragma once

#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "io/context.h"

namespace btftool {

// "dir: 7 other files"; each of them with --verbose.
void note_others(const Context& context, const btf::TensorSet& set);

// Those of these paths that are in the directory.
void note_others(const Context& context, std::string root, const std::vector<std::string>& paths);

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths);

}  // namespace btftool
