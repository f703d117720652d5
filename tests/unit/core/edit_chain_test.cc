#include "core/edit_chain.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/naive_edits.h"
#include "support/said.h"

using btf::Dims;
using btf::Edit;
using btf::EditChain;
using btf::Permute;
using btf::Reshape;
using btf::Slice;
using btf::SliceRange;
using btf::Squeeze;
using btf::Unsqueeze;

namespace {

std::string refusal(const Dims& dims, const std::vector<Edit>& edits) {
  const auto result = btf::edited_dims(dims, edits);
  if (result) return "";
  CHECK(result.error().code == btf::ErrorCode::invalid_argument);
  return said(result.error());
}

Dims after(const Dims& dims, const std::vector<Edit>& edits) {
  const auto result = btf::edited_dims(dims, edits);
  REQUIRE(result);
  return *result;
}

constexpr std::int64_t kMin = INT64_MIN;
constexpr std::int64_t kMax = INT64_MAX;
constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;

}  // namespace

TEST_CASE("edits: dims as NumPy has them") {
  const Dims dims{2, 1, 6, 1};
  CHECK(after(dims, {}) == dims);
  CHECK(after(dims, {Permute{{3, 2, 1, 0}}}) == Dims{1, 6, 1, 2});
  CHECK(after(dims, {Squeeze{}}) == Dims{2, 6});
  CHECK(after(dims, {Squeeze{{1}}}) == Dims{2, 6, 1});
  CHECK(after(dims, {Squeeze{{-1, 1}}}) == Dims{2, 6});
  CHECK(after(dims, {Unsqueeze{0}}) == Dims{1, 2, 1, 6, 1});
  CHECK(after(dims, {Unsqueeze{4}}) == Dims{2, 1, 6, 1, 1});
  CHECK(after({2, 6}, {Unsqueeze{-1}}) == Dims{2, 6, 1});
  CHECK(after({2, 6}, {Unsqueeze{-2}}) == Dims{2, 1, 6});
  CHECK(after({2, 6}, {Unsqueeze{-3}}) == Dims{1, 2, 6});
  CHECK(after({}, {Unsqueeze{0}}) == Dims{1});
  CHECK(after(dims, {Reshape{{3, -1}}}) == Dims{3, 4});
  CHECK(after({1}, {Reshape{{}}}).empty());
  CHECK(after({}, {Reshape{{-1}}}) == Dims{1});
  CHECK(after({0, 5}, {Reshape{{7, 0}}}) == Dims{7, 0});
  CHECK(after({0, 5}, {Reshape{{7, -1}}}) == Dims{7, 0});
  CHECK(after(dims, {Slice{{1, 0, SliceRange{1, 5, 2}}}}) == Dims{2, 1});
  CHECK(after(dims, {Slice{{-2}}, Squeeze{}, Reshape{{2, 3}}, Permute{{1, 0}}}) == Dims{3, 2});
}

TEST_CASE("edits: slices of hostile numbers") {
  const auto count = [](std::uint64_t size, const SliceRange& range) {
    return after({size}, {Slice{{range}}}).front();
  };
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, kHuge}) {
    CAPTURE(size);
    CHECK(count(size, {kMin, kMax, 1}) == size);
    CHECK(count(size, {kMax, kMin, -1}) == size);
    CHECK(count(size, {kMax, kMin, 1}) == 0);
    CHECK(count(size, {kMin, kMax, kMax}) == (size > 0 ? 1 : 0));
    CHECK(count(size, {kMax, kMin, kMin}) == (size > 0 ? 1 : 0));
  }
  CHECK(refusal({3}, {Slice{{SliceRange{0, 3, 0}}}}) == "the step of a slice is 0");
  CHECK(refusal({3}, {Slice{{3}}}) == "'3' is not an index into dim 0 of size 3");
  CHECK(refusal({3}, {Slice{{kMin}}}) ==
        "'-9223372036854775808' is not an index into dim 0 of size 3");
  CHECK(refusal({3}, {Slice{{0, 0}}}) == "the slice has 2 parts, but the tensor has rank 1");
}

TEST_CASE("edits: what does not go with the dims") {
  CHECK(refusal({2, 3}, {Permute{{0}}}) == "permute names 1 dims, but the tensor has rank 2");
  CHECK(refusal({2, 3}, {Permute{{0, 0}}}) == "permute must name every dim from 0 to 1 once");
  CHECK(refusal({2, 1}, {Squeeze{{0}}}) == "squeeze removes dims of size 1, but dim 0 has size 2");
  CHECK(refusal({2, 1}, {Squeeze{{2}}}) == "squeeze names dim 2, but the tensor has rank 2");
  CHECK(refusal({2, 1}, {Squeeze{{kMin}}}) ==
        "squeeze names dim -9223372036854775808, but the tensor has rank 2");
  CHECK(refusal({2, 1}, {Squeeze{{1, -1}}}) == "squeeze names dim -1 twice");
  CHECK(refusal({2, 3}, {Unsqueeze{3}}) == "unsqueeze names dim 3, but the result has rank 3");
  CHECK(refusal({2, 3}, {Unsqueeze{-4}}) == "unsqueeze names dim -4, but the result has rank 3");
  CHECK(refusal({2, 3}, {Reshape{{4}}}) ==
        "reshape to [4] does not keep the number of elements of [2, 3]");
  CHECK(refusal({2, 3}, {Reshape{{-1, 4}}}) ==
        "reshape to [-1, 4] does not keep the number of elements of [2, 3]");
  CHECK(refusal({2, 3}, {Reshape{{-1, -1}}}) ==
        "reshape infers one dim, but -1 occurs more than once");
  CHECK(refusal({2, 3}, {Reshape{{-2, 3}}}) == "reshape takes sizes and one -1, not -2");
  CHECK(refusal({0, 3}, {Reshape{{0, -1}}}) ==
        "reshape to [0, -1] does not keep the number of elements of [0, 3]");
  CHECK_FALSE(refusal({2, 3}, {Reshape{{kMax, kMax, -1}}}).empty());
  CHECK_FALSE(refusal({0, 3}, {Reshape{{0, kMax, kMax}}}).empty());
  CHECK(refusal(Dims(255, 1), {Unsqueeze{0}}) ==
        "unsqueeze would make 256 dims, but a tensor has at most 255");
  CHECK(refusal({1}, {Reshape{std::vector<std::int64_t>(256, 1)}}) ==
        "reshape would make 256 dims, but a tensor has at most 255");
}

TEST_CASE("edits: what changes nothing is no step") {
  const std::vector<Edit> edits{Permute{{0, 1, 2}}, Slice{{SliceRange{}, SliceRange{0, 99, 1}}},
                                Reshape{{2, 3, 4}}, Squeeze{}, Slice{}};
  const auto chain = EditChain::make({2, 3, 4}, edits);
  REQUIRE(chain);
  CHECK(chain->empty());
  CHECK(chain->keeps_all());
  CHECK(chain->first_name().empty());
}

TEST_CASE("edits: the first that changes something has a name, and dims of 1 may change places") {
  const auto chain = EditChain::make({1, 1}, std::vector<Edit>{Squeeze{{0}}, Unsqueeze{0}});
  REQUIRE(chain);
  CHECK(chain->first_name() == "squeeze");
  const auto turned = EditChain::make({3}, std::vector<Edit>{Slice{{SliceRange{{}, {}, -1}}}});
  REQUIRE(turned);
  CHECK(turned->first_name() == "slice");
  CHECK(turned->keeps_all());
}

TEST_CASE("edits: every index goes where it belongs, by brute force") {
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const Dims dims = naive::random_dims(random, random.below(5), 60);
    const std::vector<Edit> edits = naive::random_edits(random, dims);
    const naive::Edited expected = naive::edited(dims, edits);
    const auto chain = EditChain::make(dims, edits);
    REQUIRE(chain);
    CHECK(after(dims, edits) == expected.dims);
    // From each index of the source, the number in the result; nothing where it is left out.
    std::vector<std::optional<std::uint64_t>> wanted(naive::product(dims));
    for (std::uint64_t i = 0; i < expected.cells.size(); ++i) wanted[expected.cells[i]] = i;
    bool right = true;
    Dims room;
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      Dims index = naive::index_of(dims, i);
      const bool kept = chain->place(index, room);
      right = right && kept == wanted[i].has_value() &&
              (!kept || naive::number_of(expected.dims, index) == *wanted[i]);
    }
    CAPTURE(round, dims);
    CHECK(right);
  }
}
