// Same dtype on both sides: the bits move, nothing is cast.
#pragma once

#include "kernels/move/kernel.h"

namespace btf {

// `count` elements of 1, 2, 4 or 8 bytes, with strides in elements.
void move_line(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t count);

bool move_applies(const CastJob& job);
void move_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// memcpy() that is always called: for short copies g++ puts string instructions into the loop,
// which take longer to start than what is copied.
void copy_bytes(const void* source, void* target, std::size_t bytes);

}  // namespace btf
