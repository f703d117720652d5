// The plan: two arrangements of the same logical elements become boxes of plain strided loops,
// without tails or divisions, folded where both sides are contiguous. Kernels run its tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/layout.h"

namespace btf {

// How a logical index becomes an offset in elements; the strides of a StridedLayout without its
// shape.
struct Mapping {
  Dims strides;
  std::optional<Split> split;

  bool operator==(const Mapping&) const = default;
};

struct PlanAxis {
  std::uint64_t count = 0;
  std::uint64_t source_stride = 0;
  std::uint64_t target_stride = 0;

  bool operator==(const PlanAxis&) const = default;
};

// A box of elements: the loops over `axes`, outermost first, the target's smallest stride last.
// No axes: one element. Neighbouring axes that run on in both sides are one axis.
struct Region {
  std::uint64_t source_base = 0;
  std::uint64_t target_base = 0;
  std::vector<PlanAxis> axes;
};

// Covers every index below `counts` exactly once. A split dim whose count is no multiple of the
// lanes gives a region of its own for the rest. Empty when a count is 0.
std::vector<Region> make_plan(std::span<const std::uint64_t> counts, const Mapping& source,
                              const Mapping& target);

// A region as two-dimensional tiles: the inner axis is the target's innermost, the outer one the
// source's innermost of the others, and the loops are what is left.
struct Tiling {
  PlanAxis inner{1, 1, 1};
  PlanAxis outer{1, 1, 1};
  std::vector<PlanAxis> loops;  // outermost first
};

Tiling tile_region(const Region& region);

// Calls run(source offset, target offset) for every tile.
template <typename Run>
void for_each_tile(const Region& region, const Tiling& tiling, Run&& run) {
  const std::vector<PlanAxis>& loops = tiling.loops;
  std::vector<std::uint64_t> index(loops.size(), 0);
  std::uint64_t source = region.source_base;
  std::uint64_t target = region.target_base;
  for (;;) {
    run(source, target);
    std::size_t d = loops.size();
    for (; d > 0; --d) {
      const PlanAxis& loop = loops[d - 1];
      source += loop.source_stride;
      target += loop.target_stride;
      if (++index[d - 1] < loop.count) break;
      source -= loop.count * loop.source_stride;
      target -= loop.count * loop.target_stride;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace btf
