// What raw bytes may be, by how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Specs of tensors with these dims that take so many bytes, the usual ones first, at most so many.
// `like`: the dtype that is the first to try.
BTF_API std::vector<std::string> specs_of_size(std::span<const std::uint64_t> dims,
                                               std::uint64_t bytes, DType like, std::size_t most);

}  // namespace btf
