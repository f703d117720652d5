// Stores that go around the caches: for outputs larger than those.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu_level.h"

namespace btf {

// Copies to memory that nobody reads soon. Where lines of 64 bytes are not whole, plainly.
void stream_copy(const std::byte* source, std::byte* target, std::uint64_t bytes);

// The same for `count` pieces of `bytes` each, side by side in the source and `pitch` bytes from
// one to the next in the target.
void stream_pieces(const std::byte* source, std::byte* target, std::uint64_t bytes,
                   std::uint64_t pitch, std::uint64_t count);

// What this thread has streamed is there for other threads.
void stream_fence();

// Asks for the lines of a run that will be read soon. Always inline: a call in a loop of vectors
// would cost their registers.
BTF_INLINE void fetch_run(const std::byte* source, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += 64) __builtin_prefetch(source + at, 0, 2);
}

}  // namespace btf
