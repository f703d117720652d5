#include "kernels/cast/cast_tile.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/cpu_level.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

// The most elements of a run that goes through a buffer.
constexpr std::uint64_t kMaxRun = 256;

// Rows of a transposed tile that are cast at a time. Of fewer rows, the same number of elements is
// taken, up to the chunk of a cast.
constexpr std::uint64_t kRows = 32;
constexpr std::uint64_t kMaxColumns = 1024;

struct Sizes {
  std::uint64_t source;
  std::uint64_t target;
};

std::ptrdiff_t long_run_ahead(const Tile& tile) {
  if (tile.n0 <= kMaxRun || (tile.stream && fetches_long_runs())) return 0;
  return kByPages;
}

// Casts one line with strides, through buffers.
void cast_strided(const RunCast& run, const Sizes& sizes, const std::byte* source,
                  std::uint64_t source_stride, std::byte* target, std::uint64_t target_stride,
                  std::uint64_t count, LossAccount& account) {
  std::array<std::byte, kMaxRun * 8> in;
  std::array<std::byte, kMaxRun * 8> out;
  for (std::uint64_t at = 0; at < count; at += kMaxRun) {
    const std::uint64_t n = std::min<std::uint64_t>(kMaxRun, count - at);
    move_line(sizes.source, source + at * source_stride * sizes.source, source_stride, in.data(), 1,
              n);
    run({.source = in.data(), .target = out.data(), .count = n}, account);
    move_line(sizes.target, out.data(), 1, target + at * target_stride * sizes.target,
              target_stride, n);
  }
}

// For a source that is contiguous along the outer axis, and a target along the inner one. If target
// elements are larger, the source is transposed and its columns are cast.
void transpose_then_cast(const RunCast& run, const Sizes& sizes, const Tile& tile,
                         LossAccount& account) {
  constexpr std::uint64_t kColumns = 32;
  std::array<std::byte, kColumns * kMaxRun * 4> columns;
  for (std::uint64_t at0 = 0; at0 < tile.n0; at0 += kMaxRun) {
    const std::uint64_t n0 = std::min<std::uint64_t>(kMaxRun, tile.n0 - at0);
    for (std::uint64_t at1 = 0; at1 < tile.n1; at1 += kColumns) {
      const std::uint64_t n1 = std::min(kColumns, tile.n1 - at1);
      transpose({.element_bytes = sizes.source,
                 .source = tile.source + (at0 * tile.source_stride0 + at1) * sizes.source,
                 .source_stride = tile.source_stride0,
                 .target = columns.data(),
                 .target_stride = n0,
                 .rows = n0,
                 .columns = n1,
                 .ahead = tile.ahead});
      run({.source = columns.data(),
           .target = tile.target + (at1 * tile.target_stride1 + at0) * sizes.target,
           .count = n0,
           .runs = n1,
           .source_pitch = n0 * sizes.source,
           .target_pitch = tile.target_stride1 * sizes.target},
          account);
    }
  }
}

// The same if target elements are not larger: rows are cast, and the result is transposed.
void cast_transposed(const RunCast& run, const Sizes& sizes, const Tile& tile,
                     LossAccount& account) {
  std::array<std::byte, kRows * kMaxRun * 8> rows;
  const std::uint64_t elements = kRows * kMaxRun / std::clamp<std::uint64_t>(tile.n0, 1, kRows);
  const std::uint64_t columns = std::min(elements / kMaxRun * kMaxRun, kMaxColumns);
  for (std::uint64_t at1 = 0; at1 < tile.n1; at1 += columns) {
    const std::uint64_t n1 = std::min(columns, tile.n1 - at1);
    for (std::uint64_t at0 = 0; at0 < tile.n0; at0 += kRows) {
      const std::uint64_t n0 = std::min(kRows, tile.n0 - at0);
      run({.source = tile.source + (at0 * tile.source_stride0 + at1) * sizes.source,
           .target = rows.data(),
           .count = n1,
           .ahead = tile.ahead,
           .runs = n0,
           .source_pitch = tile.source_stride0 * sizes.source,
           .target_pitch = columns * sizes.target},
          account);
      transpose({.element_bytes = sizes.target,
                 .source = rows.data(),
                 .source_stride = columns,
                 .target = tile.target + (at1 * tile.target_stride1 + at0) * sizes.target,
                 .target_stride = tile.target_stride1,
                 .rows = n0,
                 .columns = n1,
                 .width = std::max(tile.width0, tile.n0) - at0});
    }
  }
}

}  // namespace

void cast_tile(const RunCast& run, const CastJob& job, const Tile& tile, LossAccount& account) {
  const Sizes sizes{info(job.from).buffer_bytes(), info(job.to).buffer_bytes()};
  if (tile.source_stride1 == 1 && tile.target_stride0 == 1 && tile.source_stride0 != 1)
    return sizes.source < sizes.target ? transpose_then_cast(run, sizes, tile, account)
                                       : cast_transposed(run, sizes, tile, account);
  if (tile.source_stride0 == 1 && tile.target_stride0 == 1)
    return run({.source = tile.source,
                .target = tile.target,
                .count = tile.n0,
                .ahead = long_run_ahead(tile),
                .runs = tile.n1,
                .source_pitch = tile.source_stride1 * sizes.source,
                .target_pitch = tile.target_stride1 * sizes.target,
                .stream = tile.stream},
               account);
  for (std::uint64_t i = 0; i < tile.n1; ++i)
    cast_strided(run, sizes, tile.source + i * tile.source_stride1 * sizes.source,
                 tile.source_stride0, tile.target + i * tile.target_stride1 * sizes.target,
                 tile.target_stride0, tile.n0, account);
}

}  // namespace btf
