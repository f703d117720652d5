#include "elements/plan.h"

#include <algorithm>
#include <numeric>

namespace btf {
namespace {

// A part of one dim that both sides reach with plain strides.
struct Piece {
  std::uint64_t source_base = 0;
  std::uint64_t target_base = 0;
  std::vector<PlanAxis> axes;
};

// One side's view of one dim.
struct DimMap {
  std::uint64_t stride = 0;
  std::uint64_t lanes = 1;  // 1: not split
  std::uint64_t lane_stride = 0;

  std::uint64_t offset(std::uint64_t i) const {
    return lanes == 1 ? i * stride : i / lanes * stride + i % lanes * lane_stride;
  }
  // Stride of steps of `step` indices, when all of them stay on one side of a block's border or
  // all cross whole blocks.
  std::uint64_t step_stride(std::uint64_t step) const {
    if (lanes == 1) return step * stride;
    return step >= lanes ? step / lanes * stride : step * lane_stride;
  }
};

DimMap dim_map(const Mapping& mapping, std::uint32_t dim) {
  if (mapping.split && mapping.split->dim == dim)
    return {mapping.strides[dim], mapping.split->lanes, mapping.split->lane_stride};
  return {mapping.strides[dim], 1, 0};
}

// Cuts a dim that is split on a side into pieces. With lanes a and b: whole periods of lcm(a, b)
// first, then the rest, each cut at every border of either side. When the smaller divides the
// larger, as in every named layout, the borders inside a period are one more axis and not one more
// piece.
class DimCutter {
 public:
  DimCutter(std::uint64_t count, const DimMap& source, const DimMap& target)
      : count_(count),
        source_(source),
        target_(target),
        period_(std::lcm(source.lanes, target.lanes)),
        fine_(source.lanes == 1   ? target.lanes
              : target.lanes == 1 ? source.lanes
                                  : std::gcd(source.lanes, target.lanes)) {}

  std::vector<Piece> cut() {
    const std::uint64_t periods = count_ / period_;
    if (periods > 0) cut_periods(periods);
    cut_rest(periods * period_);
    return std::move(pieces_);
  }

 private:
  struct Step {
    std::uint64_t count;
    std::uint64_t indices;  // logical indices from one to the next
  };

  bool nested() const { return period_ == std::max(source_.lanes, target_.lanes); }

  void cut_periods(std::uint64_t periods) {
    if (nested()) {
      add(0, {{periods, period_}, {period_ / fine_, fine_}, {fine_, 1}});
      return;
    }
    for (std::uint64_t at = 0; at < period_; at += fine_) add(at, {{periods, period_}, {fine_, 1}});
  }

  void cut_rest(std::uint64_t at) {
    const std::uint64_t chunks = (count_ - at) / fine_;
    if (nested() && chunks > 0) {
      add(at, {{chunks, fine_}, {fine_, 1}});
      at += chunks * fine_;
    }
    for (; at < count_; at += fine_) add(at, {{std::min(fine_, count_ - at), 1}});
  }

  void add(std::uint64_t at, std::initializer_list<Step> steps) {
    Piece piece{source_.offset(at), target_.offset(at), {}};
    for (const Step& step : steps)
      if (step.count != 1)
        piece.axes.push_back(
            {step.count, source_.step_stride(step.indices), target_.step_stride(step.indices)});
    pieces_.push_back(std::move(piece));
  }

  std::uint64_t count_;
  DimMap source_;
  DimMap target_;
  std::uint64_t period_;
  std::uint64_t fine_;
  std::vector<Piece> pieces_;
};

void fold(std::vector<PlanAxis>& axes) {
  std::ranges::sort(axes, [](const PlanAxis& a, const PlanAxis& b) {
    return a.target_stride != b.target_stride ? a.target_stride > b.target_stride
                                              : a.source_stride > b.source_stride;
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    PlanAxis& outer = axes[kept];
    const PlanAxis& inner = axes[i];
    if (outer.source_stride == inner.count * inner.source_stride &&
        outer.target_stride == inner.count * inner.target_stride)
      outer = {outer.count * inner.count, inner.source_stride, inner.target_stride};
    else
      axes[++kept] = inner;
  }
  if (!axes.empty()) axes.resize(kept + 1);
}

}  // namespace

std::vector<Region> make_plan(std::span<const std::uint64_t> counts, const Mapping& source,
                              const Mapping& target) {
  if (std::ranges::find(counts, 0U) != counts.end()) return {};
  std::vector<Region> regions(1);
  for (std::uint32_t d = 0; d < counts.size(); ++d) {
    const DimMap from = dim_map(source, d);
    const DimMap to = dim_map(target, d);
    if (from.lanes == 1 && to.lanes == 1) {
      if (counts[d] == 1) continue;
      for (Region& region : regions) region.axes.push_back({counts[d], from.stride, to.stride});
      continue;
    }
    const std::vector<Piece> pieces = DimCutter(counts[d], from, to).cut();
    std::vector<Region> grown;
    grown.reserve(regions.size() * pieces.size());
    for (const Region& region : regions) {
      for (const Piece& piece : pieces) {
        Region& next = grown.emplace_back(region);
        next.source_base += piece.source_base;
        next.target_base += piece.target_base;
        next.axes.insert(next.axes.end(), piece.axes.begin(), piece.axes.end());
      }
    }
    regions = std::move(grown);
  }
  for (Region& region : regions) fold(region.axes);
  return regions;
}

Tiling tile_region(const Region& region) {
  Tiling tiling{.inner = {1, 1, 1}, .outer = {1, 1, 1}, .loops = region.axes};
  std::vector<PlanAxis>& loops = tiling.loops;
  if (loops.empty()) return tiling;
  tiling.inner = loops.back();
  loops.pop_back();
  if (loops.empty()) return tiling;
  auto outer = loops.end() - 1;
  if (tiling.inner.source_stride != 1)
    outer = std::ranges::min_element(loops, {}, &PlanAxis::source_stride);
  tiling.outer = *outer;
  loops.erase(outer);
  return tiling;
}

}  // namespace btf
