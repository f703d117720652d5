// Files that a directory has beside its tensors: which were passed over.
#pragma once

#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "io/context.h"

namespace btftool {

// "dir: 7 other files"; each of them with --verbose.
void note_others(const Context& context, const btf::TensorSet& set);

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths);

// Of a set without a file of tensors: what is said of it.
btf::Error no_files(const std::string& path, const btf::TensorSet& set);

}  // namespace btftool
