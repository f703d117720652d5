// Contradictions between an index and the files that it names, as far as the files can be used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/tensor_set.h"

namespace btftool {

void add_warnings_of_index(const btf::TensorSet& set, std::uint64_t member,
                           std::vector<std::string>& warnings);

}  // namespace btftool
