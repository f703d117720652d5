#include "kernels/move/move.h"

#include <algorithm>
#include <cstring>

namespace btf {
namespace {

// Elements on a side of a block: a transpose of it stays inside the caches.
constexpr std::uint64_t kBlock = 32;

template <typename Word>
void move_run(const std::byte* source, std::uint64_t source_stride, std::byte* target,
              std::uint64_t target_stride, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(target + i * target_stride * sizeof(Word),
                source + i * source_stride * sizeof(Word), sizeof(Word));
}

template <typename Word>
void move_block(const Tile& tile, std::uint64_t i0, std::uint64_t n0, std::uint64_t i1,
                std::uint64_t n1) {
  for (std::uint64_t i = i1; i < i1 + n1; ++i) {
    const std::byte* source =
        tile.source + (i * tile.source_stride1 + i0 * tile.source_stride0) * sizeof(Word);
    std::byte* target =
        tile.target + (i * tile.target_stride1 + i0 * tile.target_stride0) * sizeof(Word);
    if (tile.source_stride0 == 1 && tile.target_stride0 == 1)
      std::memcpy(target, source, n0 * sizeof(Word));
    else
      move_run<Word>(source, tile.source_stride0, target, tile.target_stride0, n0);
  }
}

template <typename Word>
void move_words(const Tile& tile) {
  if (tile.source_stride0 == 1 && tile.target_stride0 == 1)
    return move_block<Word>(tile, 0, tile.n0, 0, tile.n1);
  if (tile.source_stride1 == 1 && tile.target_stride0 == 1)
    return transpose({.element_bytes = sizeof(Word),
                      .source = tile.source,
                      .source_stride = tile.source_stride0,
                      .target = tile.target,
                      .target_stride = tile.target_stride1,
                      .rows = tile.n0,
                      .columns = tile.n1,
                      .width = tile.width0,
                      .ahead = tile.ahead});
  for (std::uint64_t i1 = 0; i1 < tile.n1; i1 += kBlock)
    for (std::uint64_t i0 = 0; i0 < tile.n0; i0 += kBlock)
      move_block<Word>(tile, i0, std::min(kBlock, tile.n0 - i0), i1,
                       std::min(kBlock, tile.n1 - i1));
}

}  // namespace

void move_line(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t count) {
  if (element_bytes == 1)
    move_run<std::uint8_t>(source, source_stride, target, target_stride, count);
  else if (element_bytes == 2)
    move_run<std::uint16_t>(source, source_stride, target, target_stride, count);
  else if (element_bytes == 4)
    move_run<std::uint32_t>(source, source_stride, target, target_stride, count);
  else
    move_run<std::uint64_t>(source, source_stride, target, target_stride, count);
}

bool move_applies(const CastJob& job) { return job.from == job.to; }

void move_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  // An empty tensor may have no memory, and memcpy() must not get a null pointer even for 0 bytes.
  if (tile.n0 == 0) return;
  switch (info(job.to).buffer_bytes()) {
    case 1:
      move_words<std::uint8_t>(tile);
      break;
    case 2:
      move_words<std::uint16_t>(tile);
      break;
    case 4:
      move_words<std::uint32_t>(tile);
      break;
    default:
      move_words<std::uint64_t>(tile);
  }
  account.elements += tile.n0 * tile.n1;
}

void copy_bytes(const void* source, void* target, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}

}  // namespace btf
