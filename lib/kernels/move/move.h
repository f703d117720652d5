// Moves elements without a cast: tiles, transposes, nibbles, bytes of shuffled elements, and stores
// that bypass the caches. Kernels see pointers, counts and strides, no names and no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "kernels/cpu/cpu_level.h"

namespace btf {

// n0 x n1 elements on both sides. Strides are in elements of the side's buffer_bytes(); a 4-bit
// element takes a byte, with its code in the low nibble.
struct Tile {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n0 = 0, source_stride0 = 0, target_stride0 = 0;  // inner
  std::uint64_t n1 = 1, source_stride1 = 0, target_stride1 = 0;  // outer
  // Elements of an inner line of the target that may be written: those after n0 are zero and stay
  // so. Values below n0 mean n0.
  std::uint64_t width0 = 0;
  // For kernels that transpose: the distance in bytes at which to prefetch, or kByPages.
  std::ptrdiff_t ahead = 0;
  // The target is aligned to 64 bytes and is not read soon: kernels that can bypass the caches do
  // so.
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

// Moves `count` elements of 1, 2, 4 or 8 bytes, with strides in elements.
void move_line(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t count);

bool move_applies(const CastJob& job);
void move_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// A memcpy() that is never inlined: for short copies g++ would inline string instructions, which
// take longer to start than the copy.
void copy_bytes(const void* source, void* target, std::size_t bytes);

// Separates the bytes of elements: first the lowest byte of each, then the next, and so on.
// elements[i * width + k] goes to planes[k * count + i]; `width` is 1, 2, 4 or 8. The two must not
// overlap and need no alignment.
void split_planes(const std::byte* elements, std::size_t count, std::size_t width,
                  std::byte* planes);

// The reverse, from planes that need not be contiguous.
void join_planes(const std::byte* const* planes, std::size_t count, std::size_t width,
                 std::byte* elements);

// Unpacks 4-bit codes to a byte each, and packs them. `first` and `count` are in elements; element
// 2k is the low nibble of byte k.
void unpack_nibbles(const std::byte* packed, std::uint64_t first, std::uint64_t count,
                    std::byte* codes);
void pack_nibbles(const std::byte* codes, std::uint64_t count, std::byte* packed);

// Copies to memory that is not read soon, for outputs larger than the caches. Whole lines of 64
// bytes bypass the caches, the rest is copied normally.
void stream_copy(const std::byte* source, std::byte* target, std::uint64_t bytes);

// The same for `count` pieces of `bytes` each, contiguous in the source and at a distance of
// `pitch` bytes in the target.
void stream_pieces(const std::byte* source, std::byte* target, std::uint64_t bytes,
                   std::uint64_t pitch, std::uint64_t count);

// Makes the stores of this thread that bypassed the caches visible to other threads.
void stream_fence();

// Prefetches the lines of a run. Always inline: a call in a loop of vectors would spill their
// registers.
BTF_INLINE void fetch_run(const std::byte* source, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += 64) __builtin_prefetch(source + at, 0, 2);
}

// In place of a distance: use fetch_pages().
inline constexpr std::ptrdiff_t kByPages = PTRDIFF_MIN;

// Prefetches for a long run that is read in blocks of kBytes: each block fetches as many lines of
// the next 16 KiB, so that all blocks of 16 KiB fetch all of these. The lines alternate between the
// four pages, which is faster than one page after another.
template <std::uint64_t kBytes>
BTF_INLINE void fetch_pages(const std::byte* block) {
  constexpr std::uint64_t kLines = kBytes <= 64 ? 1 : kBytes / 64;
  static_assert(kLines == 1 || kLines == 2 || kLines == 4);
  const std::uint64_t turn = reinterpret_cast<std::uintptr_t>(block) / (kLines * 64) * kLines;
  const std::uint64_t page = (turn / 256 + 1) * 4 + turn % 4;
  const auto* line = reinterpret_cast<const std::byte*>(page * 4096 + turn / 4 % 64 * 64);
  for (std::uint64_t i = 0; i < kLines; ++i) __builtin_prefetch(line + i * 4096, 0, 2);
}

// As kernel.run(), for targets that are larger than the caches: results go through a buffer in the
// first-level cache to stores that bypass the caches, if the target has lines that are long enough.
// A stream_fence() must follow the last tile.
void stream_tile(const CastKernel& kernel, const CastJob& job, const Tile& tile,
                 LossAccount& account);

// The transpose that every change between layouts of different order consists of, including lanes:
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
  // Elements of a target line, at least `rows`, that may be written: those after `rows` are zero
  // and stay so.
  std::uint64_t width = 0;
  // The distance in bytes at which to prefetch into the second-level cache; 0 for none, kByPages
  // for contiguous rows.
  std::ptrdiff_t ahead = 0;
};

void transpose(const Transpose& job);

}  // namespace btf
