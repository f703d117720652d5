// Contradictions between an index and the files that it names, as far as the files can be used.
#pragma once

#include <cstdint>

#include "btf/tensor_set.h"
#include "io/context.h"

namespace btftool {

void warn_of_index(const Context& context, const btf::TensorSet& set, std::uint64_t member);

}  // namespace btftool
