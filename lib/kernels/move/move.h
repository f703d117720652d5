// Same dtype on both sides: the bits move, nothing is cast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "kernels/cpu/cpu_level.h"

namespace btf {

// The view of a kernel: pointers, counts and strides, no names and no files.

// n0 x n1 elements on both sides. Strides are in elements of the side's buffer_bytes(); a 4-bit
// element has a byte of its own, its code in the low nibble.
struct Tile {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n0 = 0, source_stride0 = 0, target_stride0 = 0;  // inner
  std::uint64_t n1 = 1, source_stride1 = 0, target_stride1 = 0;  // outer
  // Elements of a line of the inner axis that may be written in the target: those behind the n0 are
  // zero and stay so. Less than n0: n0.
  std::uint64_t width0 = 0;
  // A kernel that turns rows into columns fetches what lies so many bytes from what it reads, or
  // kByPages.
  std::ptrdiff_t ahead = 0;
  // The target begins with a line of 64 bytes that nobody reads soon: a run is written around the
  // caches by kernels that can.
  bool stream = false;
};

struct CastJob {
  DType from{};
  DType to{};
  CastPolicy policy;
};

struct CastKernel {
  std::string_view name;
  bool (*applies)(const CastJob& job);
  // Adds every element of the tile to the account.
  void (*run)(const CastJob& job, const Tile& tile, LossAccount& account);
};

// `count` elements of 1, 2, 4 or 8 bytes, with strides in elements.
void move_line(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t count);

bool move_applies(const CastJob& job);
void move_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// memcpy() that is always called: for short copies g++ puts string instructions into the loop,
// which take longer to start than what is copied.
void copy_bytes(const void* source, void* target, std::size_t bytes);

// The bytes of elements apart: first the lowest of all, then the next of all, and so on.

// `width` is 1, 2, 4 or 8. planes[k * count + i] becomes elements[i * width + k]; the two do not
// overlap and need no alignment.
void split_planes(const std::byte* elements, std::size_t count, std::size_t width,
                  std::byte* planes);

// The other way round, from planes that need not stand side by side.
void join_planes(const std::byte* const* planes, std::size_t count, std::size_t width,
                 std::byte* elements);

// 4-bit codes: two to a byte where they are stored, a byte each where kernels work.

// Spreads and packs 4-bit codes. `first` and `count` are in elements; element 2k is the low nibble
// of byte k.
void unpack_nibbles(const std::byte* packed, std::uint64_t first, std::uint64_t count,
                    std::byte* codes);
void pack_nibbles(const std::byte* codes, std::uint64_t count, std::byte* packed);

// Stores that go around the caches: for outputs larger than those.

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

// Tiles whose target is larger than the caches: any kernel, through a buffer that stays in the
// first-level cache.

// As kernel.run(), with stores that go around the caches where the target has lines that are worth
// it. Needs a stream_fence() behind the last tile.
void stream_tile(const CastKernel& kernel, const CastJob& job, const Tile& tile,
                 LossAccount& account);

// Turning rows into columns: what every change between layouts of different order comes down to,
// lanes included.

// target[c * target_stride + r] = source[r * source_stride + c] for r < rows, c < columns. Strides
// and counts are in elements of 1, 2, 4 or 8 bytes.
struct Transpose {
  std::uint64_t element_bytes = 1;
  const std::byte* source = nullptr;
  std::uint64_t source_stride = 0;
  std::byte* target = nullptr;
  std::uint64_t target_stride = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  // Elements of a target line, `rows` or more, that may be written: those behind `rows` are zero
  // and stay so.
  std::uint64_t width = 0;
  // Bytes from what is read to what will be read next, which is fetched into the second-level
  // cache meanwhile; 0: nothing; kByPages of rows one behind the other.
  std::ptrdiff_t ahead = 0;
};

void transpose(const Transpose& job);

}  // namespace btf
