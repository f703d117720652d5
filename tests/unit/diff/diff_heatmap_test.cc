// Cells of heat maps against a count of every element by its index, and what rounding of whole runs
// is called where a single pair among them is no rounding.
#include <bit>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/diff_pair.h"

using btf::DType;
using bytes::Words;

namespace {

Words indices(const Words& dims, std::uint64_t number) {
  Words index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; number /= dims[d]) index[d] = number % dims[d];
  return index;
}

void check_cells(const btf::TensorDiff& diff, const pairs::Tensor& actual,
                 const pairs::Tensor& golden) {
  REQUIRE(diff.heatmap);
  const btf::Heatmap& map = *diff.heatmap;
  std::vector<std::uint64_t> mismatched(map.rows * map.columns);
  std::vector<std::uint64_t> elements(mismatched.size());
  for (std::uint64_t i = 0; i < golden.codes.size(); ++i) {
    const Words index = indices(golden.dims, i);
    const auto cell_of = [&](const std::optional<btf::Heatmap::Axis>& axis) {
      return axis ? index[axis->dim] / axis->step : 0;
    };
    const std::uint64_t cell = cell_of(map.down) * map.columns + cell_of(map.across);
    ++elements.at(cell);
    mismatched.at(cell) += actual.codes[i] != golden.codes[i] ? 1U : 0U;
  }
  CHECK(map.mismatched == mismatched);
  CHECK(map.elements == elements);
}

}  // namespace

TEST_CASE("diff: a heat map has every mismatch in the cell of its index") {
  std::mt19937 random(3);
  const std::vector<Words> shapes = {
      {1},          {7},           {5000},         {1, 1},        {3000, 2},
      {2, 3000},    {37, 129},     {64, 64},       {3, 5, 7},     {9, 1, 1100},
      {65, 33, 17}, {2, 3, 5, 77}, {4, 1, 25, 70}, {70, 3, 1, 40}};
  for (const Words& dims : shapes)
    for (const unsigned percent : {1U, 50U, 99U, 100U})
      for (const bool given : {false, true}) {
        std::uint64_t count = 1;
        for (const std::uint64_t dim : dims) count *= dim;
        pairs::Tensor golden{DType::float32, dims,
                             Words(count, std::bit_cast<std::uint32_t>(1.0F))};
        pairs::Tensor actual = golden;
        for (std::uint64_t& code : actual.codes)
          if (random() % 100 < percent) code = std::bit_cast<std::uint32_t>(2.0F);
        actual.codes[random() % count] = std::bit_cast<std::uint32_t>(3.0F);
        btf::DiffOptions options = pairs::no_hints();
        options.heatmap.emplace();
        options.heatmap->rows = static_cast<std::uint32_t>(1 + random() % 20);
        options.heatmap->columns = static_cast<std::uint32_t>(1 + random() % 70);
        const auto rank = static_cast<std::int32_t>(dims.size());
        if (given) options.heatmap->axes = {static_cast<std::int32_t>(random() % dims.size())};
        if (given && rank > 1)
          options.heatmap->axes.push_back((options.heatmap->axes[0] + 1) % rank);
        CAPTURE(dims, percent, given, options.heatmap->rows, options.heatmap->columns);
        check_cells(pairs::diff(actual, golden, options), actual, golden);
      }
}

TEST_CASE("diff: rounding to float16 is that of every element, and one that is not is seen") {
  std::mt19937 random(4);
  constexpr std::uint64_t kCount = 5000;
  pairs::Tensor golden{DType::float32, {kCount}, Words(kCount)};
  pairs::Tensor actual{DType::float16, {kCount}, Words(kCount)};
  for (std::uint64_t i = 0; i < kCount; ++i) {
    // Of 1 to 2, with 12 bits that float16 does not have, less than half a step.
    const std::uint64_t kept = random() % 1024;
    actual.codes[i] = 0x3c00 + kept;
    golden.codes[i] = 0x3f800000 + (kept << 13) + 1 + random() % 4000;
  }
  const btf::TensorDiff rounded = pairs::diff(actual, golden, {});
  REQUIRE(rounded.hints.size() == 1);
  CHECK(rounded.hints[0].cause == btf::Cause::rounding);
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{1023}, kCount - 1}) {
    CAPTURE(wrong);
    pairs::Tensor other = actual;
    other.codes[wrong] = 0x4400;  // 4
    for (const btf::Hint& hint : pairs::diff(other, golden, {}).hints)
      CHECK_FALSE(hint.evidence.contains("5000 of 5000"));
  }
}
