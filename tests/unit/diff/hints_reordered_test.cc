// The indices of one dim in another order.
#include <catch2/catch.hpp>
#include <numeric>

#include "support/hint_data.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<std::uint64_t> shuffled(std::uint64_t size, Random& random) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t k = size; k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  return order;
}

// Result index i of the dim is index order[i] of `source`.
Tensor taken(const Tensor& source, std::size_t dim, const std::vector<std::uint64_t>& order) {
  return gathered(source, [&](std::uint64_t number) {
    Words at = index_of(source.dims, number);
    at[dim] = order[at[dim]];
    return number_of(source.dims, at);
  });
}

std::string start(const std::string& dim, const std::vector<std::uint64_t>& order) {
  std::string text = "reordered: actual has the indices of golden's " + dim + " in another order, ";
  std::size_t said = 0;
  for (std::uint64_t i = 0; said < 3; ++i) {
    if (order[i] == i) continue;
    text +=
        (said == 0 ? "golden's " : ", ") + std::to_string(order[i]) + " at " + std::to_string(i);
    ++said;
  }
  return text + ", ...: ";
}

Tensor normal(const Words& dims, Random& random) {
  return tensor(DType::float32, dims, gaussians(product(dims), 1, random));
}

}  // namespace

TEST_CASE("reordered: any dim, also where it was rounded") {
  Random random(1);
  const Words dims{6, 20, 9, 7};
  const Tensor golden = normal(dims, random);
  for (const std::size_t dim : {0U, 1U, 2U, 3U}) {
    const auto order = shuffled(dims[dim], random);
    const Tensor actual = taken(golden, dim, order);
    const std::string expected =
        start("dim " + std::to_string(dim) + " (" + std::string("NCHW")[dim] + ")", order) +
        "7560 of 7560 elements";
    CHECK(hint_of(actual, golden) == expected);
    for (const DType dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3fn}) {
      const Tensor rounded = tensor(dtype, dims, actual.values());
      const std::string within = " of them within " + std::string(btf::info(dtype).name) + "'s";
      CHECK_THAT(hint_of(rounded, golden), StartsWith(expected) && Contains(within));
      CHECK_THAT(hint_of(tensor(DType::float32, dims, rounded.values()), golden),
                 StartsWith(expected) && Contains(within));
    }
  }
}

TEST_CASE("reordered: boxes by their scores, exchanged, rotated, with some that are twice or new") {
  Random random(2);
  const Words dims{1, 100, 6};
  const Tensor golden = normal(dims, random);
  const auto row = [&](std::uint64_t i) { return golden.value(i * 6 + 4); };
  std::vector<std::uint64_t> order(100);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::sort(order, std::greater{}, row);
  CHECK_THAT(hint_of(taken(golden, 1, order), golden),
             StartsWith("reordered: actual has the indices of golden's dim 1 in descending order "
                        "of [0, :, 4], golden's "));
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::swap(order[3], order[50]);
  CHECK(hint_of(taken(golden, 1, order), golden) ==
        "reordered: actual has the indices 3 and 50 of golden's dim 1 exchanged: 600 of 600 "
        "elements");
  order = shuffled(100, random);
  order[10] = order[11] = order[12];
  CHECK(hint_of(taken(golden, 1, order), golden) ==
        start("dim 1", order) + "600 of 600 elements, 2 of golden's indices missing, 1 repeated");
  order = shuffled(100, random);
  Values values = taken(golden, 1, order).values();
  for (std::uint64_t i = 120; i < 138; ++i) values[i] = gaussian(random);
  const btf::TensorDiff diff = diff_of(tensor(DType::float32, dims, values), golden);
  CHECK(hint_of(diff) == start("dim 1", order) +
                             "582 of 582 elements, 3 of golden's indices missing, 3 match none of "
                             "golden's");
  // What nothing is in, in both.
  values = golden.values();
  for (std::uint64_t i = 240; i < 600; ++i) values[i] = 0;
  const Tensor filled = tensor(DType::float32, dims, values);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const auto first = shuffled(40, random);
  std::ranges::copy(first, order.begin());
  CHECK(hint_of(taken(filled, 1, order), filled) == start("dim 1", order) + "600 of 600 elements");
}

TEST_CASE("reordered: a list, where it is no chance that its numbers are the same") {
  Random random(3);
  const auto list = [&](DType dtype, const Values& values) {
    return tensor(dtype, {values.size()}, values);
  };
  const auto said = [&](const Tensor& golden) {
    return hint_of(taken(golden, 0, shuffled(golden.dims[0], random)), golden);
  };
  CHECK_THAT(said(list(DType::float32, gaussians(20, 1, random))), StartsWith("reordered: "));
  CHECK_THAT(said(list(DType::float32, gaussians(3000, 1, random))), StartsWith("reordered: "));
  CHECK_THAT(said(list(DType::int64, integers(100, -100000, 100000, random))),
             StartsWith("reordered: "));
  CHECK(said(list(DType::int32, integers(100, 0, 1, random))).empty());
  CHECK(said(list(DType::int32, integers(60, 0, 9, random))).empty());
  // The same kind of numbers, but others.
  for (int pair = 0; pair < 30; ++pair)
    for (const int most : {1, 5, 100}) {
      const Values a = integers(2000, 0, most, random);
      const Values b = integers(2000, 0, most, random);
      CHECK(hint_of(list(DType::int16, a), list(DType::int16, b)).empty());
      CHECK(hint_of(list(DType::float8_e4m3fn, gaussians(2000, 1, random)),
                    list(DType::float8_e4m3fn, gaussians(2000, 1, random)))
                .empty());
    }
}

TEST_CASE("reordered: rows of few numbers that are others have no cause") {
  Random random(4);
  for (int pair = 0; pair < 60; ++pair) {
    const Words dims = std::array{Words{50, 2}, Words{200, 3}, Words{30, 8}}[random.below(3)];
    const int most = 1 + static_cast<int>(random.below(4));
    const Tensor a = tensor(DType::int8, dims, integers(product(dims), 0, most, random));
    const Tensor b = tensor(DType::int8, dims, integers(product(dims), 0, most, random));
    CHECK(hint_of(a, b).empty());
  }
}
