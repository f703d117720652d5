// The one limit on the rank of tensors in files, of those that are read and those that are written.
#pragma once

#include <cstddef>

namespace btf {

inline constexpr std::size_t kMostDims = 255;

}  // namespace btf
