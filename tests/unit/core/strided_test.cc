// Tensors in memory whose elements stand at any strides.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/layout.h"
#include "support/said.h"
#include "support/strided_view.h"

using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::StridedLayout;
using strided::Bytes;

namespace {

StridedLayout resolved(const Dims& dims, const Dims& strides, DType dtype = DType::float32) {
  auto layout = btf::resolve_strides(dims, strides, dtype);
  REQUIRE(layout);
  return *std::move(layout);
}

StridedLayout linear(const Dims& dims, DType dtype) {
  auto layout = btf::resolve(Layout::linear, dims, dtype);
  REQUIRE(layout);
  return *std::move(layout);
}

Dims random_dims(Random& random) {
  Dims dims(random.between(0, 4));
  for (std::uint64_t& dim : dims) dim = random.below(20) == 0 ? 0 : random.between(1, 9);
  return dims;
}

// A tensor in memory of just the size that it needs, so that a sanitizer sees a step too far.
struct Sample {
  DType dtype{};
  Dims dims;
  Dims strides;
  StridedLayout layout;
  Bytes bytes;

  btf::TensorView view() const { return {dtype, layout, bytes}; }
};

Sample sample(DType dtype, const Dims& dims, const Dims& strides, std::uint64_t seed) {
  Sample made{dtype, dims, strides, resolved(dims, strides, dtype), {}};
  made.bytes = random_bytes(btf::storage_bytes(made.layout, dtype), seed);
  return made;
}

Sample row_major(const Sample& of) {
  Dims packed = linear(of.dims, of.dtype).strides;
  return {of.dtype, of.dims, packed, linear(of.dims, of.dtype),
          strided::gathered(of.bytes, of.dims, of.strides, of.dtype)};
}

Bytes converted(const btf::TensorView& from, DType dtype, const StridedLayout& layout) {
  Bytes result(btf::storage_bytes(layout, dtype), std::byte{0xa5});
  const auto loss = btf::convert(from, btf::MutableTensorView{dtype, layout, result});
  REQUIRE(loss);
  REQUIRE(loss->elements == from.storage.elements());
  return result;
}

}  // namespace

TEST_CASE("strided: what the memory has", "[strided]") {
  CHECK(resolved({2, 3}, {3, 1}).storage_elements == 6);
  CHECK(resolved({2, 3}, {0, 1}).storage_elements == 3);
  CHECK(resolved({2, 3}, {0, 0}).storage_elements == 1);
  CHECK(resolved({2, 3}, {100, 7}).storage_elements == 115);
  CHECK(resolved({}, {}).storage_elements == 1);
  CHECK(resolved({0, 3}, {100, 7}).storage_elements == 0);
  CHECK(resolved({1, 3}, {~0ULL, 1}).storage_elements == 3);
  CHECK(resolved({2, 1, 3}, {3, 77, 1}).strides == Dims{3, 3, 1});
  CHECK(resolved({2, 3, 4}, {4, 0, 1}).axes.front().dim == 1);
}

TEST_CASE("strided: what does not fit is refused", "[strided]") {
  const std::uint64_t big = 1ULL << 63;
  CHECK_FALSE(btf::resolve_strides(Dims{2}, Dims{}, DType::int8));
  CHECK_FALSE(btf::resolve_strides(Dims{3}, Dims{big}, DType::int8));
  CHECK_FALSE(btf::resolve_strides(Dims{2, 2}, Dims{big, big}, DType::int8));
  CHECK_FALSE(btf::resolve_strides(Dims{2}, Dims{big}, DType::float32));
  // No memory, but more elements than can be counted.
  CHECK_FALSE(btf::resolve_strides(Dims{big, 4}, Dims{0, 0}, DType::int8));
  CHECK_FALSE(btf::resolve_strides(Dims{big, 4, 0}, Dims{0, 0, 0}, DType::int8));
}

TEST_CASE("strided: elements that share memory are noticed", "[strided]") {
  CHECK(btf::distinct_elements(resolved({2, 3}, {3, 1})));
  CHECK(btf::distinct_elements(resolved({2, 3}, {1, 2})));
  CHECK(btf::distinct_elements(resolved({2, 3}, {50, 7})));
  CHECK(btf::distinct_elements(resolved({1, 3}, {0, 1})));
  CHECK(btf::distinct_elements(resolved({0, 3}, {0, 0})));
  CHECK_FALSE(btf::distinct_elements(resolved({2, 3}, {0, 1})));
  CHECK_FALSE(btf::distinct_elements(resolved({2, 3}, {1, 1})));
  CHECK_FALSE(btf::distinct_elements(resolved({2, 3}, {2, 1})));
}

TEST_CASE("strided: any strides are read as their elements gathered one by one", "[strided]") {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const Dims dims = random_dims(random);
    const Dims strides = strided::random_strides(dims, true, random);
    for (const btf::DTypeInfo& row : btf::dtypes()) {
      CAPTURE(round, dims, strides, row.name);
      const Sample from = sample(row.dtype, dims, strides, random.next());
      const Sample golden = row_major(from);
      CHECK(converted(from.view(), row.dtype, golden.layout) == golden.bytes);
      for (const DType to : {DType::float32, DType::float8_e4m3fn, DType::int4}) {
        const StridedLayout target = linear(dims, to);
        CHECK(converted(from.view(), to, target) == converted(golden.view(), to, target));
      }
    }
  }
}

TEST_CASE("strided: large tensors, in slabs and by threads", "[strided]") {
  const Dims dims{3, 700, 600};
  for (const Dims& strides : {Dims{0, 600, 1}, Dims{420000, 1, 700}, Dims{0, 1, 0}, Dims{1, 0, 3},
                              Dims{0, 0, 0}, Dims{600, 601, 1}, Dims{1800, 1, 1}}) {
    for (const DType dtype : {DType::float32, DType::float16, DType::uint4}) {
      CAPTURE(strides, btf::info(dtype).name);
      const Sample from = sample(dtype, dims, strides, 3);
      const Sample golden = row_major(from);
      CHECK((converted(from.view(), dtype, golden.layout) == golden.bytes));
      const StridedLayout target = linear(dims, DType::float64);
      CHECK((converted(from.view(), DType::float64, target) ==
             converted(golden.view(), DType::float64, target)));
    }
  }
}

TEST_CASE("strided: a target gets its elements and nothing between them", "[strided]") {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    const Dims dims = random_dims(random);
    const Dims strides = strided::random_strides(dims, false, random);
    const DType dtype = round % 2 == 0 ? DType::uint16 : DType::float32;
    CAPTURE(round, dims, strides);
    const Sample from = sample(dtype, dims, linear(dims, dtype).strides, random.next());
    const StridedLayout layout = resolved(dims, strides, dtype);
    REQUIRE(btf::distinct_elements(layout));
    const Bytes result = converted(from.view(), dtype, layout);
    CHECK(strided::gathered(result, dims, strides, dtype) == from.bytes);
    std::set<std::uint64_t> taken;
    Dims index(dims.size(), 0);
    if (layout.elements() > 0) do
        taken.insert(strided::offset_of(index, strides));
      while (naive::next(index, dims));
    for (std::uint64_t i = 0; i < layout.storage_elements; ++i)
      if (!taken.contains(i))
        CHECK(strided::load(result, i, dtype) == (0xa5a5a5a5 >> (dtype == DType::uint16 ? 16 : 0)));
  }
}

TEST_CASE("strided: targets that cannot be are refused", "[strided]") {
  const Bytes source(6, std::byte{1});
  Bytes target(64);
  const auto refused = [&](DType dtype, const Dims& strides) {
    const auto result =
        btf::convert(btf::TensorView{DType::int8, linear({2, 3}, DType::int8), source},
                     btf::MutableTensorView{dtype, resolved({2, 3}, strides, dtype), target});
    REQUIRE_FALSE(result);
    return said(result.error());
  };
  CHECK(refused(DType::int8, {0, 1}) == "elements of the target share memory");
  CHECK(refused(DType::int8, {1, 1}) == "elements of the target share memory");
  CHECK(refused(DType::int4, {4, 1}) == "a target of 4-bit elements must have no gaps");
}

TEST_CASE("strided: a 4-bit target may have its dims in any order", "[strided]") {
  const Dims dims{3, 5, 2};
  const Sample from = sample(DType::int4, dims, {10, 2, 1}, 5);
  for (const Dims& strides : {Dims{1, 3, 15}, Dims{5, 1, 15}, Dims{2, 6, 1}}) {
    const Bytes result = converted(from.view(), DType::int4, resolved(dims, strides, DType::int4));
    CHECK(strided::gathered(result, dims, strides, DType::int4) == from.bytes);
  }
}

TEST_CASE("strided: diff of any strides", "[strided]") {
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    const Dims dims = random_dims(random);
    const Dims strides = strided::random_strides(dims, true, random);
    const auto rows = btf::dtypes();
    const DType dtype = rows[random.below(rows.size())].dtype;
    CAPTURE(round, dims, strides, btf::info(dtype).name);
    const Sample actual = sample(dtype, dims, strides, random.next());
    Sample golden = row_major(actual);
    if (golden.layout.elements() == 0) continue;

    const auto same = btf::diff(actual.view(), golden.view());
    REQUIRE(same);
    CHECK(same->result == btf::DiffResult::same);
    CHECK(same->compared == golden.layout.elements());
    const auto itself = btf::diff(actual.view(), actual.view());
    REQUIRE(itself);
    CHECK(itself->result == btf::DiffResult::same);

    // The same elements with one of them another: of each side once.
    for (int change = 0; change < 3; ++change)
      strided::store(golden.bytes, random.below(golden.layout.elements()), dtype,
                     random.below(btf::info(dtype).bits < 8 ? 16 : 200));
    const auto there = btf::diff(actual.view(), golden.view());
    const auto back = btf::diff(golden.view(), actual.view());
    const Sample flat = row_major(actual);
    const auto expected = btf::diff(flat.view(), golden.view());
    REQUIRE(there);
    REQUIRE(back);
    REQUIRE(expected);
    CHECK(there->mismatched == expected->mismatched);
    CHECK(back->mismatched == expected->mismatched);
    CHECK(there->max_abs == expected->max_abs);
    CHECK(there->first.size() == expected->first.size());
    for (std::size_t i = 0; i < there->first.size(); ++i)
      CHECK(there->first[i].index == expected->first[i].index);
  }
}

TEST_CASE("strided: hints look at repeated elements without leaving the memory", "[strided]") {
  const Dims dims{4, 24, 20};
  for (const Dims& strides : {Dims{0, 20, 1}, Dims{0, 1, 24}, Dims{1, 0, 4}, Dims{20, 21, 1}}) {
    for (const DType dtype : {DType::float32, DType::uint8, DType::uint4}) {
      CAPTURE(strides, btf::info(dtype).name);
      const Sample actual = sample(dtype, dims, strides, 1);
      const Sample golden = row_major(sample(dtype, dims, strides, 2));
      const auto there = btf::diff(actual.view(), golden.view());
      const auto back = btf::diff(golden.view(), actual.view());
      REQUIRE(there);
      REQUIRE(back);
      CHECK(there->mismatched == back->mismatched);
      CHECK(there->result == btf::DiffResult::different);
    }
  }
}
