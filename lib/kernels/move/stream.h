// Stores that go around the caches: for outputs larger than those.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/cpu_level.h"

namespace btf {

// Copies to memory that nobody reads soon. Where lines of 64 bytes are not whole, plainly.
void stream_copy(const std::byte* source, std::byte* target, std::uint64_t bytes);

// The same for `count` pieces of `bytes` each, side by side in the source and `pitch` bytes from
// one to the next in the target.
void stream_pieces(const std::byte* source, std::byte* target, std::uint64_t bytes,
                   std::uint64_t pitch, std::uint64_t count);

// Makes this thread's streamed stores visible to other threads.
void stream_fence();

// Asks for the lines of a run that will be read soon. Always inline: a call in a loop of vectors
// would cost their registers.
BTF_INLINE void fetch_run(const std::byte* source, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += 64) __builtin_prefetch(source + at, 0, 2);
}

// Instead of a distance: fetch_pages().
inline constexpr std::ptrdiff_t kByPages = PTRDIFF_MIN;

// The same for a long run that is read in blocks of kBytes: `block` asks for as many lines of the
// next 16 KiB, and all blocks of 16 KiB together for all of them. Their four pages take turns,
// which memory answers sooner than one page behind the other.
template <std::uint64_t kBytes>
BTF_INLINE void fetch_pages(const std::byte* block) {
  constexpr std::uint64_t kLines = kBytes <= 64 ? 1 : kBytes / 64;
  static_assert(kLines == 1 || kLines == 2 || kLines == 4);
  const std::uint64_t turn = reinterpret_cast<std::uintptr_t>(block) / (kLines * 64) * kLines;
  const std::uint64_t page = (turn / 256 + 1) * 4 + turn % 4;
  const auto* line = reinterpret_cast<const std::byte*>(page * 4096 + turn / 4 % 64 * 64);
  for (std::uint64_t i = 0; i < kLines; ++i) __builtin_prefetch(line + i * 4096, 0, 2);
}

}  // namespace btf
