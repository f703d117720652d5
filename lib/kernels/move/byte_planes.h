// The bytes of elements apart: first the lowest of all, then the next of all, and so on.
#pragma once

#include <cstddef>

namespace btf {

// `width` is 1, 2, 4 or 8. planes[k * count + i] becomes elements[i * width + k]; the two do not
// overlap and need no alignment.
void split_planes(const std::byte* elements, std::size_t count, std::size_t width,
                  std::byte* planes);

// The other way round, from planes that need not stand side by side.
void join_planes(const std::byte* const* planes, std::size_t count, std::size_t width,
                 std::byte* elements);

}  // namespace btf
