#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "elements/records.h"
#include "support/naive_edits.h"
#include "support/naive_layout.h"

using btf::Dims;
using btf::DType;
using btf::Edit;
using btf::EditChain;
using btf::EditedView;
using btf::Layout;
using btf::Permute;
using btf::Reshape;
using btf::Slice;
using btf::SliceRange;
using btf::Squeeze;
using btf::StridedLayout;
using btf::Unsqueeze;

namespace {

StridedLayout resolved(Layout layout, const Dims& dims) {
  auto result = btf::resolve(layout, dims, DType::int16);
  REQUIRE(result);
  return *std::move(result);
}

std::vector<EditedView> views_of(Layout layout, const Dims& dims, const std::vector<Edit>& edits) {
  const auto chain = EditChain::make(dims, edits);
  REQUIRE(chain);
  return btf::edited_views(resolved(layout, dims), *chain);
}

// Where an element of the result stands in the stored array.
std::uint64_t stored_at(const std::vector<EditedView>& views, Dims index) {
  for (std::size_t v = views.size(); v-- > 0;) {
    const EditedView& view = views[v];
    for (std::size_t d = 0; d < index.size(); ++d)
      if (view.reversed[d]) index[d] = view.storage.dims[d] - 1 - index[d];
    if (view.storage.split) {
      std::uint64_t& i = index[view.storage.split->dim];
      i = view.split_offset + i * view.split_step;
    }
    const std::uint64_t number = view.base + btf::offset(view.storage, index);
    if (v == 0) return number;
    index = naive::index_of(views[v - 1].storage.dims, number);
  }
  return 0;
}

const Edit kTurned = Permute{{0, 2, 3, 1}};
Edit channels(const SliceRange& range) { return Slice{{SliceRange{}, range}}; }

}  // namespace

TEST_CASE("views: one where strides can say it, one more where they cannot") {
  struct Row {
    Layout layout;
    std::vector<Edit> edits;
    std::size_t views;
  };
  const Dims dims{2, 64, 6, 10};
  const Edit flat = Reshape{{-1}};
  const std::vector<Row> rows{
      {Layout::linear, {}, 1},
      {Layout::linear, {flat}, 1},
      {Layout::linear, {Reshape{{2, 8, 8, 60}}}, 1},
      {Layout::linear, {kTurned}, 1},
      {Layout::linear, {kTurned, flat}, 2},
      {Layout::linear, {kTurned, Reshape{{2, 60, 8, 8}}}, 1},
      {Layout::linear, {channels({1, 60, 7}), kTurned, Squeeze{}, Unsqueeze{0}}, 1},
      {Layout::linear, {channels({{}, {}, -1})}, 1},
      {Layout::linear, {channels({{}, {}, -1}), channels({{}, {}, -3})}, 1},
      {Layout::linear, {channels({{}, {}, -1}), flat}, 2},
      {Layout::linear, {flat, Slice{{SliceRange{5, 100, -1}}}}, 1},
      {Layout::hwc8, {Reshape{{2, 64, 60}}}, 1},
      {Layout::hwc8, {channels({3, 17, 2})}, 1},
      {Layout::hwc8, {flat}, 2},
      {Layout::chw16, {channels({16, 40})}, 1},
      {Layout::chw16, {channels({17, 31, 3})}, 1},
      {Layout::chw16, {channels({5, {}, 32})}, 1},
      {Layout::chw16, {channels({1, {}, 4})}, 1},
      {Layout::chw16, {Slice{{SliceRange{}, 37}}, flat}, 2},
      {Layout::chw16, {Slice{{0, 37}}, flat}, 1},
      {Layout::chw16, {channels({1, {}, 1})}, 1},
      {Layout::chw16, {channels({5, {}, 4})}, 1},
      {Layout::chw16, {channels({5, {}, 4}), channels({3})}, 1},
      {Layout::chw16, {channels({5, {}, 1}), kTurned, Squeeze{}}, 1},
      {Layout::chw16, {channels({0, {}, 3})}, 1},
      {Layout::chw16, {channels({7, {}, 6}), channels({1, {}, 2})}, 1},
      {Layout::chw16, {channels({0, {}, 17})}, 2},
      {Layout::chw16, {channels({{}, {}, -1})}, 2},
      {Layout::chw16, {Reshape{{2, 64, 60}}}, 1},
      {Layout::chw16, {Reshape{{2, 4, 16, 60}}}, 2},
      {Layout::dla_linear, {Reshape{{128, 6, 10}}}, 1},
      {Layout::dla_linear, {Reshape{{2, 64, 60}}}, 2},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows.data(), btf::spec(row.layout).name);
    CHECK(views_of(row.layout, dims, row.edits).size() == row.views);
  }
}

TEST_CASE("views: a permutation alone is the permuted layout") {
  const StridedLayout layout = resolved(Layout::chw16, {2, 33, 6, 10});
  const auto views = views_of(Layout::chw16, {2, 33, 6, 10}, {kTurned});
  const StridedLayout turned = btf::permuted(layout, std::vector<std::uint32_t>{0, 2, 3, 1});
  REQUIRE(views.size() == 1);
  CHECK(views[0].base == 0);
  CHECK_FALSE(views[0].has_reversed_dims());
  CHECK(views[0].storage.strides == turned.strides);
  CHECK(views[0].storage.split == turned.split);
  CHECK(views[0].storage.storage_shape() == turned.storage_shape());
}

TEST_CASE("views: nothing of anything") {
  const auto views = views_of(Layout::chw16, {2, 33, 6, 10},
                              {Slice{{SliceRange{0, 0}}}, Reshape{{5, 0, 7}}, Permute{{2, 0, 1}}});
  REQUIRE(views.size() == 1);
  CHECK(views[0].storage.dims == Dims{7, 5, 0});
  CHECK(views[0].storage.elements() == 0);
}

TEST_CASE("views: every element of random chains, in every layout") {
  Random random(21);
  std::size_t several = 0;
  for (int round = 0; round < 200; ++round) {
    for (const naive::Name& name : naive::names()) {
      const std::uint64_t channel_counts[] = {1, 3, 4, 8, 20, 33, 64, 70};
      const std::uint64_t channels = channel_counts[random.below(std::size(channel_counts))];
      const std::uint64_t rank = random.between(3, 5);
      if (!naive::can_hold(name, rank, channels)) continue;
      const Dims dims = naive::dims_for(name, rank, channels, random.between(1, 6));
      const std::vector<Edit> edits = naive::random_edits(random, dims);
      const auto layout = static_cast<Layout>(name.code);
      const StridedLayout storage = resolved(layout, dims);
      const auto views = views_of(layout, dims, edits);
      several += views.size() > 1 ? 1 : 0;
      const naive::Edited expected = naive::edited(dims, edits);
      CAPTURE(round, name.name, dims);
      REQUIRE(views.back().storage.dims == expected.dims);
      bool right = true;
      for (std::uint64_t i = 0; i < expected.cells.size(); ++i)
        right = right && stored_at(views, naive::index_of(expected.dims, i)) ==
                             btf::offset(storage, naive::index_of(dims, expected.cells[i]));
      CHECK(right);
    }
  }
  CHECK(several > 100);
}
