// Turning rows into columns: what channel-last layouts come down to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

// target[c * target_stride + r] = source[r * source_stride + c] for r < rows, c < columns. Strides
// and counts are in elements of 1, 2, 4 or 8 bytes.
void transpose(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t rows,
               std::uint64_t columns);

}  // namespace btf
