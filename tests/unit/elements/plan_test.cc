#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/layout.h"
#include "elements/elements.h"
#include "elements/slabs.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"

using btf::Box;
using btf::Dims;
using btf::DType;
using btf::Footprint;
using btf::Layout;
using btf::Mapping;
using btf::PlanAxis;
using btf::Region;
using btf::StridedLayout;

namespace {

// Where one element comes from and where it goes.
using Move = std::pair<std::uint64_t, std::uint64_t>;

// The formula of layout.h, written once more.
std::uint64_t direct_offset(const Mapping& mapping, const Dims& index) {
  std::uint64_t sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (mapping.split && mapping.split->dim == d)
      sum += (index[d] / mapping.split->lanes) * mapping.strides[d] +
             (index[d] % mapping.split->lanes) * mapping.split->lane_stride;
    else
      sum += index[d] * mapping.strides[d];
  }
  return sum;
}

std::vector<Move> direct_moves(const Dims& counts, const Mapping& source, const Mapping& target) {
  std::vector<Move> moves;
  if (std::ranges::find(counts, 0U) != counts.end()) return moves;
  Dims index(counts.size(), 0);
  do {
    moves.emplace_back(direct_offset(source, index), direct_offset(target, index));
  } while (naive::next(index, counts));
  std::ranges::sort(moves);
  return moves;
}

void walk_axes(const std::vector<PlanAxis>& axes, std::size_t depth, Move at,
               std::vector<Move>& moves) {
  if (depth == axes.size()) {
    moves.push_back(at);
    return;
  }
  for (std::uint64_t i = 0; i < axes[depth].count; ++i)
    walk_axes(axes, depth + 1,
              {at.first + i * axes[depth].source_stride, at.second + i * axes[depth].target_stride},
              moves);
}

std::vector<Move> planned_moves(const std::vector<Region>& regions) {
  std::vector<Move> moves;
  for (const Region& region : regions)
    walk_axes(region.axes, 0, {region.source_base, region.target_base}, moves);
  std::ranges::sort(moves);
  return moves;
}

// The same by way of the tiles.
std::vector<Move> tiled_moves(const std::vector<Region>& regions) {
  std::vector<Move> moves;
  for (const Region& region : regions) {
    const btf::Tiling tiling = btf::tile_region(region);
    btf::for_each_tile(region, tiling, [&](std::uint64_t source, std::uint64_t target) {
      walk_axes({tiling.outer, tiling.inner}, 0, {source, target}, moves);
    });
  }
  std::ranges::sort(moves);
  return moves;
}

// No axis of one element, the target's strides descending, nothing left to fold.
bool well_formed(const Region& region) {
  for (std::size_t i = 0; i < region.axes.size(); ++i) {
    const PlanAxis& axis = region.axes[i];
    if (axis.count < 2) return false;
    if (i == 0) continue;
    const PlanAxis& outer = region.axes[i - 1];
    if (outer.target_stride < axis.target_stride) return false;
    if (outer.source_stride == axis.count * axis.source_stride &&
        outer.target_stride == axis.count * axis.target_stride)
      return false;
  }
  return true;
}

bool plan_is_right(const Dims& counts, const Mapping& source, const Mapping& target) {
  const std::vector<Region> regions = btf::make_plan(counts, source, target);
  const std::vector<Move> expected = direct_moves(counts, source, target);
  return planned_moves(regions) == expected && tiled_moves(regions) == expected &&
         std::ranges::all_of(regions, well_formed);
}

StridedLayout resolved(Layout layout, const Dims& dims, DType dtype = DType::int8) {
  auto result = btf::resolve(layout, dims, dtype);
  REQUIRE(result);
  return *std::move(result);
}

Mapping mapping(const StridedLayout& layout) { return {layout.strides, layout.split}; }

std::vector<Region> plan(Layout source, Layout target, const Dims& dims) {
  return btf::make_plan(dims, mapping(resolved(source, dims)), mapping(resolved(target, dims)));
}

Mapping packed(const Dims& dims) { return mapping(resolved(Layout::linear, dims)); }

std::vector<std::uint32_t> shuffled(std::size_t rank, Random& random) {
  std::vector<std::uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// Strides of a made-up storage: the dims, and perhaps the lanes of one, in any order, with gaps.
Mapping random_mapping(const Dims& dims, Random& random) {
  Mapping mapping{Dims(dims.size()), {}};
  const auto rank = static_cast<std::uint32_t>(dims.size());
  if (rank > 0 && random.below(3) != 0) {
    const auto dim = static_cast<std::uint32_t>(random.below(rank));
    mapping.split = btf::Split{dim, random.between(1, 13), 0};
  }
  std::uint64_t stride = random.between(1, 2);
  for (const std::uint32_t axis : shuffled(rank + (mapping.split ? 1 : 0), random)) {
    std::uint64_t extent = 0;
    if (axis == rank) {
      mapping.split->lane_stride = stride;
      extent = mapping.split->lanes;
    } else {
      mapping.strides[axis] = stride;
      extent = dims[axis];
      if (mapping.split && mapping.split->dim == axis)
        extent = (extent + mapping.split->lanes - 1) / mapping.split->lanes;
    }
    stride = stride * std::max<std::uint64_t>(extent, 1) + (random.below(4) == 0 ? 3 : 0);
  }
  return mapping;
}

// Every storage position of a footprint, in the order of the packed box.
Dims positions(const Footprint& footprint) {
  Dims all{footprint.base};
  for (const Footprint::Loop& loop : footprint.loops) {
    Dims next;
    for (const std::uint64_t at : all)
      for (std::uint64_t i = 0; i < loop.count; ++i) next.push_back(at + i * loop.stride);
    all = std::move(next);
  }
  Dims elements;
  for (const std::uint64_t at : all)
    for (std::uint64_t i = 0; i < footprint.run; ++i) elements.push_back(at + i);
  return elements;
}

Box whole(const Dims& dims) { return {Dims(dims.size(), 0), dims}; }

// Calls visit(index) for every index of a box.
template <typename Visit>
void for_each_index(const Box& box, Visit&& visit) {
  const Dims counts = box.counts();
  if (std::ranges::find(counts, 0U) != counts.end()) return;
  Dims step(counts.size(), 0);
  do {
    Dims index = box.lo;
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += step[d];
    visit(index, step);
  } while (naive::next(step, counts));
}

// The footprint holds every element of the box where `packed` says.
bool holds_its_box(const StridedLayout& layout, const Box& box) {
  const Footprint footprint = btf::footprint(layout, box);
  const Dims at = positions(footprint);
  if (at.size() != footprint.elements) return false;
  bool right = true;
  for_each_index(box, [&](const Dims& index, const Dims& step) {
    const std::uint64_t place = footprint.first + direct_offset(footprint.packed, step);
    right = right && place < at.size() && at[place] == btf::offset(layout, index);
  });
  return right;
}

struct GridCheck {
  bool covers_storage = true;   // every stored element, padding too, once
  bool covers_elements = true;  // every logical element once
  bool in_order = true;         // contiguous, and each behind the one before
  bool holds = true;            // both sides' footprints hold their boxes
  std::uint64_t most_bytes = 0;
};

GridCheck check_grid(const btf::SlabGrid& grid, const StridedLayout& source,
                     const StridedLayout& target, std::uint64_t element_bytes) {
  GridCheck check;
  std::vector<int> stored(target.storage_elements, 0);
  std::vector<int> seen(target.elements(), 0);
  std::uint64_t end = 0;
  for (std::uint64_t slab = 0; slab < grid.count(); ++slab) {
    const Box box = grid.box(slab);
    const Footprint to = btf::footprint(target, box);
    check.in_order = check.in_order && to.contiguous() && to.base == end;
    end = to.base + to.elements;
    for (const std::uint64_t at : positions(to)) {
      if (at < stored.size())
        ++stored[at];
      else
        check.covers_storage = false;
    }
    for_each_index(box, [&](const Dims& index, const Dims&) {
      std::uint64_t number = 0;
      for (std::size_t d = 0; d < index.size(); ++d) number = number * target.dims[d] + index[d];
      ++seen[number];
    });
    const Footprint from = btf::footprint(source, box);
    check.most_bytes =
        std::max({check.most_bytes, to.elements * element_bytes, from.elements * element_bytes});
    check.holds = check.holds && holds_its_box(source, box) && holds_its_box(target, box);
  }
  const auto once = [](const std::vector<int>& counts) {
    return std::ranges::all_of(counts, [](int count) { return count == 1; });
  };
  check.covers_storage = check.covers_storage && once(stored);
  check.covers_elements = once(seen);
  return check;
}

const std::vector<Layout>& dense_layouts() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> layouts;
    for (const naive::Name& name : naive::names())
      layouts.push_back(static_cast<Layout>(name.code));
    return layouts;
  }();
  return all;
}

}  // namespace

TEST_CASE("plan: two linear tensors are one run") {
  const std::vector<Region> regions = plan(Layout::linear, Layout::linear, {2, 3, 4, 5});
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].source_base == 0);
  CHECK(regions[0].target_base == 0);
  CHECK(regions[0].axes == std::vector<PlanAxis>{{120, 1, 1}});
}

TEST_CASE("plan: the same split on both sides folds to runs") {
  // 8 channels fill two blocks, and everything runs on.
  CHECK(plan(Layout::chw4, Layout::chw4, {8, 3, 5})[0].axes == std::vector<PlanAxis>{{120, 1, 1}});
  CHECK(plan_is_right({10, 3, 5}, mapping(resolved(Layout::chw4, {10, 3, 5})),
                      mapping(resolved(Layout::chw4, {10, 3, 5}))));
}

TEST_CASE("plan: a transpose has nothing to fold") {
  const Mapping source{{1, 3}, {}};
  const std::vector<Region> regions = btf::make_plan(Dims{3, 7}, source, packed({3, 7}));
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].axes == std::vector<PlanAxis>{{3, 1, 7}, {7, 3, 1}});

  const btf::Tiling tiling = btf::tile_region(regions[0]);
  CHECK(tiling.inner == PlanAxis{7, 3, 1});
  CHECK(tiling.outer == PlanAxis{3, 1, 7});
  CHECK(tiling.loops.empty());
}

TEST_CASE("plan: tiles join the innermost axes of both sides") {
  // [N, C, H, W] to [N, H, W, C]: H and W fold.
  const std::vector<Region> regions = plan(Layout::linear, Layout::hwc, {2, 3, 5, 7});
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].axes == std::vector<PlanAxis>{{2, 105, 105}, {35, 1, 3}, {3, 35, 1}});
  const btf::Tiling tiling = btf::tile_region(regions[0]);
  CHECK(tiling.inner == PlanAxis{3, 35, 1});
  CHECK(tiling.outer == PlanAxis{35, 1, 3});
  CHECK(tiling.loops == std::vector<PlanAxis>{{2, 105, 105}});
}

TEST_CASE("plan: split on the source") {
  // [8, 3, 5]: two whole blocks.
  const std::vector<Region> regions = plan(Layout::chw4, Layout::linear, {8, 3, 5});
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].axes == std::vector<PlanAxis>{{2, 60, 60}, {4, 1, 15}, {15, 4, 1}});
}

TEST_CASE("plan: split on the target, with a rest") {
  // [10, 3, 5]: two whole blocks, then two channels.
  const std::vector<Region> regions = plan(Layout::linear, Layout::chw4, {10, 3, 5});
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].axes == std::vector<PlanAxis>{{2, 60, 60}, {15, 1, 4}, {4, 15, 1}});
  CHECK(regions[1].source_base == 120);
  CHECK(regions[1].target_base == 120);
  CHECK(regions[1].axes == std::vector<PlanAxis>{{15, 1, 4}, {2, 15, 1}});

  // Less than a block: the rest is all there is.
  CHECK(plan(Layout::linear, Layout::chw32, {3, 3, 5}).size() == 1);
}

TEST_CASE("plan: nested splits stay few regions") {
  const Dims whole_blocks{64, 3, 5};
  CHECK(plan(Layout::chw32, Layout::chw4, whole_blocks).size() == 1);
  CHECK(plan(Layout::chw4, Layout::chw32, whole_blocks).size() == 1);
  // 90 = 2 * 32 + 6 * 4 + 2
  CHECK(plan(Layout::chw32, Layout::chw4, {90, 3, 5}).size() == 3);
  CHECK(plan_is_right({90, 3, 5}, mapping(resolved(Layout::chw32, {90, 3, 5})),
                      mapping(resolved(Layout::chw4, {90, 3, 5}))));
}

TEST_CASE("plan: lanes that do not divide each other") {
  for (std::uint64_t count = 1; count <= 75; ++count) {
    // [count] as blocks of 12 and as blocks of 8, lanes innermost and outermost.
    const Mapping twelve{{12}, btf::Split{0, 12, 1}};
    const Mapping eight{{1}, btf::Split{0, 8, 10}};
    CAPTURE(count);
    CHECK(plan_is_right({count}, twelve, eight));
    CHECK(plan_is_right({count}, eight, twelve));
  }
  // Per period of 24: pieces of 4.
  CHECK(btf::make_plan(Dims{48}, Mapping{{12}, btf::Split{0, 12, 1}},
                       Mapping{{1}, btf::Split{0, 8, 10}})
            .size() == 6);
}

TEST_CASE("plan: splits on different dims") {
  const Dims counts{10, 7};
  const Mapping source{{28, 1}, btf::Split{0, 4, 7}};
  const Mapping target{{3, 30}, btf::Split{1, 3, 1}};
  CHECK(plan_is_right(counts, source, target));
  CHECK(plan_is_right(counts, target, source));
}

TEST_CASE("plan: nothing to do") {
  CHECK(btf::make_plan(Dims{0}, packed({0}), packed({0})).empty());
  CHECK(btf::make_plan(Dims{3, 0, 5}, packed({3, 0, 5}), packed({3, 0, 5})).empty());
  CHECK(plan(Layout::linear, Layout::chw4, {0, 3, 5}).empty());
}

TEST_CASE("plan: rank 0 is one element") {
  const std::vector<Region> regions = btf::make_plan(Dims{}, Mapping{}, Mapping{});
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].axes.empty());
  CHECK(tiled_moves(regions) == std::vector<Move>{{0, 0}});
}

TEST_CASE("plan: dims of one element leave no axes") {
  const std::vector<Region> regions =
      btf::make_plan(Dims{1, 1, 1}, packed({1, 1, 1}), Mapping{{7, 8, 9}, btf::Split{1, 4, 1}});
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].axes.empty());
}

TEST_CASE("plan: all pairs of layouts") {
  for (const std::uint64_t channels : {1U, 3U, 4U, 37U, 64U}) {
    for (const naive::Name& from : naive::names()) {
      for (const naive::Name& to : naive::names()) {
        const Dims dims{2, channels, 2, 3, 5};
        if (!naive::can_hold(from, 5, dims[5 - from.channel_from_end]) ||
            !naive::can_hold(to, 5, dims[5 - to.channel_from_end]))
          continue;
        const bool right =
            plan_is_right(dims, mapping(resolved(static_cast<Layout>(from.code), dims)),
                          mapping(resolved(static_cast<Layout>(to.code), dims)));
        if (right) continue;
        CAPTURE(from.name, to.name, dims);
        CHECK(right);
      }
    }
  }
}

TEST_CASE("plan: any dims, orders and splits are covered exactly once") {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    Dims counts(random.below(5));
    for (std::uint64_t& count : counts) count = random.below(20) == 0 ? 0 : random.between(1, 6);
    if (!counts.empty() && random.below(2) == 0)
      counts[random.below(counts.size())] = random.between(1, 60);
    const Mapping source = random_mapping(counts, random);
    const Mapping target = random_mapping(counts, random);
    if (plan_is_right(counts, source, target)) continue;
    CAPTURE(round, counts, source.strides, target.strides);
    CHECK(plan_is_right(counts, source, target));
  }
}

TEST_CASE("footprint: a whole tensor is its storage") {
  for (const Layout layout : dense_layouts()) {
    const StridedLayout target = resolved(layout, {2, 3, 3, 2, 5}, DType::float16);
    const Footprint footprint = btf::footprint(target, whole(target.dims));
    CAPTURE(btf::spec(layout).name);
    CHECK(footprint.contiguous());
    CHECK(footprint.base == 0);
    CHECK(footprint.run == target.storage_elements);
    CHECK(footprint.elements == target.storage_elements);
  }
}

TEST_CASE("footprint: a part of a linear tensor") {
  const StridedLayout linear = resolved(Layout::linear, {4, 5, 6});
  const Footprint rows = btf::footprint(linear, Box{{1, 2, 0}, {2, 5, 6}});
  CHECK(rows.contiguous());
  CHECK(rows.base == 42);
  CHECK(rows.run == 18);

  const Footprint corner = btf::footprint(linear, Box{{1, 2, 3}, {3, 4, 6}});
  CHECK(corner.base == 45);
  CHECK(corner.run == 3);
  REQUIRE(corner.loops.size() == 2);
  CHECK(corner.loops[0].stride == 30);
  CHECK(corner.loops[1].stride == 6);
  CHECK(corner.elements == 12);
}

TEST_CASE("footprint: the padding at the end of a dim belongs to the last box") {
  const StridedLayout target = resolved(Layout::hwc8, {11, 1, 2});
  CHECK(btf::footprint(target, Box{{0, 0, 0}, {4, 1, 1}}).elements == 4);
  CHECK(btf::footprint(target, Box{{4, 0, 0}, {11, 1, 1}}).elements == 12);
}

TEST_CASE("footprint: random boxes") {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    const Layout layout = dense_layouts()[random.below(dense_layouts().size())];
    const Dims dims{2, 3, random.between(1, 3), 3, random.between(1, 40)};
    if (btf::spec(layout).image && dims[2] != 1 && dims[2] != 3) continue;
    const StridedLayout target = resolved(layout, dims);
    Box box{Dims(5), Dims(5)};
    for (std::size_t d = 0; d < 5; ++d) {
      box.lo[d] = random.below(dims[d]);
      box.hi[d] = random.between(box.lo[d] + 1, dims[d]);
    }
    // As grids do: from the border of a block, or inside one.
    if (target.split) {
      const auto [dim, lanes, stride] = *target.split;
      if (random.below(2) == 0)
        box.lo[dim] = 0;
      else
        box.hi[dim] = std::min(box.hi[dim], (box.lo[dim] / lanes + 1) * lanes);
    }
    if (holds_its_box(target, box)) continue;
    CAPTURE(btf::spec(layout).name, dims, box.lo, box.hi);
    CHECK(holds_its_box(target, box));
  }
}

TEST_CASE("slabs: every pair of layouts is covered once, within the limit, and in order") {
  constexpr std::uint64_t kBytes = 2;
  for (const Dims& dims : {Dims{2, 3, 3, 4, 37}, Dims{1, 70, 4, 5, 9}, Dims{3, 2, 40, 6, 5}}) {
    for (const naive::Name& from : naive::names()) {
      for (const naive::Name& to : naive::names()) {
        if (!naive::can_hold(from, 5, dims[5 - from.channel_from_end]) ||
            !naive::can_hold(to, 5, dims[5 - to.channel_from_end]))
          continue;
        const StridedLayout source = resolved(static_cast<Layout>(from.code), dims, DType::float16);
        const StridedLayout target = resolved(static_cast<Layout>(to.code), dims, DType::float16);
        for (const std::uint64_t limit : {512U, 4096U, 16384U}) {
          // Blocks are never cut: 32 lanes of one dim times 32 of another.
          const std::uint64_t most = std::max(limit, 32 * 32 * kBytes);
          for (const bool contiguous : {false, true}) {
            const btf::SlabGrid grid = btf::choose_slabs(
                {&source, kBytes}, {&target, kBytes},
                {.bytes = limit, .min_run = 64, .target_contiguous = contiguous});
            const GridCheck check = check_grid(grid, source, target, kBytes);
            CAPTURE(from.name, to.name, dims, limit, contiguous, grid.count(), check.most_bytes);
            if (!check.covers_storage) CHECK(check.covers_storage);
            if (!check.covers_elements) CHECK(check.covers_elements);
            if (!check.holds) CHECK(check.holds);
            if (check.most_bytes > most) CHECK(check.most_bytes <= most);
            if (contiguous && !check.in_order) CHECK(check.in_order);
          }
        }
      }
    }
  }
}

TEST_CASE("slabs: permuted sources") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Layout from = dense_layouts()[random.below(dense_layouts().size())];
    if (btf::spec(from).image) continue;
    const Dims dims{random.between(1, 4), random.between(1, 40), random.between(1, 4),
                    random.between(1, 9), random.between(1, 9)};
    const StridedLayout source = btf::permuted(resolved(from, dims), shuffled(5, random));
    const StridedLayout target = resolved(Layout::linear, source.dims);
    const bool contiguous = random.below(2) == 0;
    const btf::SlabGrid grid =
        btf::choose_slabs({&source, 1}, {&target, 1},
                          {.bytes = 1024, .min_run = 32, .target_contiguous = contiguous});
    const GridCheck check = check_grid(grid, source, target, 1);
    const bool right = check.covers_storage && check.covers_elements && check.holds &&
                       (check.in_order || !contiguous);
    if (right) continue;
    CAPTURE(btf::spec(from).name, source.dims, source.strides, contiguous, check.covers_storage,
            check.covers_elements, check.holds, check.in_order);
    CHECK(right);
  }
}

TEST_CASE("slabs: the blocks of a second source are not cut either") {
  const Dims dims{2, 80, 5, 7};
  const StridedLayout target = resolved(Layout::linear, dims);
  for (const naive::Name& first : naive::names()) {
    for (const naive::Name& second : naive::names()) {
      if (!naive::can_hold(first, 4, 80) || !naive::can_hold(second, 4, 80)) continue;
      const StridedLayout one = resolved(static_cast<Layout>(first.code), dims);
      const StridedLayout two = resolved(static_cast<Layout>(second.code), dims);
      const btf::SlabSide side{&two, 1};
      for (const std::uint64_t limit : {128U, 2048U}) {
        const btf::SlabGrid grid =
            btf::choose_slabs({&one, 1}, {&target, 1},
                              {.bytes = limit, .target_contiguous = true, .second_source = &side});
        const GridCheck by_one = check_grid(grid, one, target, 1);
        const GridCheck by_two = check_grid(grid, two, target, 1);
        CAPTURE(first.name, second.name, limit);
        CHECK((by_one.covers_elements && by_one.in_order && by_one.holds && by_two.holds));
        if (limit == 2048) CHECK(std::max(by_one.most_bytes, by_two.most_bytes) <= limit);
      }
    }
  }
}

TEST_CASE("slabs: an empty tensor has none, a scalar one") {
  const StridedLayout empty = resolved(Layout::linear, {3, 0, 2});
  CHECK(btf::choose_slabs({&empty, 1}, {&empty, 1}, {}).count() == 0);
  const StridedLayout padded = resolved(Layout::hwc8, {0, 2, 2});
  CHECK(btf::choose_slabs({&padded, 1}, {&padded, 1}, {}).count() == 0);
  const StridedLayout scalar = resolved(Layout::linear, {});
  const btf::SlabGrid grid = btf::choose_slabs({&scalar, 1}, {&scalar, 1}, {});
  CHECK(grid.count() == 1);
  CHECK(grid.box(0).lo.empty());
}

TEST_CASE("slabs: a copy is cut into large contiguous boxes") {
  const StridedLayout linear = resolved(Layout::linear, {64, 1 << 20}, DType::float32);
  const btf::SlabGrid grid = btf::choose_slabs({&linear, 4}, {&linear, 4}, {});
  CHECK(grid.count() == 64);
  const Footprint slab = btf::footprint(linear, grid.box(1));
  CHECK(slab.contiguous());
  CHECK(slab.base == 1 << 20);
  CHECK(slab.elements == 1 << 20);
}

TEST_CASE("slabs: a large transpose is cut into tiles with long runs on both sides") {
  struct Work {
    Layout layout;
    Dims dims;
    std::vector<std::uint32_t> order;
  };
  for (const Work& work :
       {Work{Layout::linear, {20000, 30000}, {1, 0}},
        Work{Layout::linear, {1000, 1000, 1000}, {2, 1, 0}},
        Work{Layout::linear, {1 << 24, 64}, {1, 0}}, Work{Layout::linear, {64, 1 << 24}, {1, 0}},
        Work{Layout::hwc, {512, 4096, 4096}, {0, 1, 2}}}) {
    const StridedLayout source = btf::permuted(resolved(work.layout, work.dims), work.order);
    const StridedLayout target = resolved(Layout::linear, source.dims);
    const btf::SlabGrid grid = btf::choose_slabs({&source, 1}, {&target, 1}, {});
    const Box box = grid.box(0);
    const Footprint from = btf::footprint(source, box);
    const Footprint to = btf::footprint(target, box);
    CAPTURE(work.dims, box.hi, from.run, to.run);
    CHECK(from.run >= std::min<std::uint64_t>(256, source.axes.back().extent));
    CHECK(to.run >= std::min<std::uint64_t>(256, target.axes.back().extent));
    CHECK(from.elements <= 4U << 20);
    CHECK(to.elements <= 4U << 20);
  }
}
