// Mismatches in one part of a tensor: a tail of zeros, padding, regions.
#include <algorithm>
#include <span>

#include <catch2/catch.hpp>

#include "support/hint_data.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const Words kDims{2, 24, 14, 16};

Tensor random_tensor(DType dtype, const Words& dims, std::uint64_t seed) {
  Random random(seed);
  return tensor(dtype, dims, gaussians(product(dims), is_float(dtype) ? 1 : 35, random));
}

// Other numbers of the same kind where `broken(index)`.
template <typename Broken>
Tensor broken(const Tensor& source, Broken&& where) {
  Tensor result = random_tensor(source.dtype, source.dims, 999);
  for (std::uint64_t i = 0; i < source.codes.size(); ++i)
    if (!where(index_of(source.dims, i))) result.codes[i] = source.codes[i];
  return result;
}

// 0 where `empty(index)`.
template <typename Empty>
Tensor emptied(const Tensor& source, Empty&& where) {
  Tensor result = source;
  for (std::uint64_t i = 0; i < source.codes.size(); ++i)
    if (where(index_of(source.dims, i))) result.codes[i] = 0;
  return result;
}

}  // namespace

TEST_CASE("a tail of zeros is found") {
  std::uint64_t seed = 1;
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::int64}) {
    const Tensor golden = random_tensor(dtype, kDims, ++seed);
    for (const std::uint64_t from : {5000U, 10000U, 10700U}) {
      Tensor actual = golden;
      std::ranges::fill(std::span(actual.codes).subspan(from), 0);
      std::uint64_t first = from;
      while (golden.value(first) == 0) ++first;
      const btf::TensorDiff diff = diff_of(actual, golden);
      CHECK(hint_of(diff) == "zero-tail: actual is 0 from element " + std::to_string(first) + " " +
                                 btf::dims_text(index_of(kDims, first)) + " (byte " +
                                 std::to_string(first * btf::info(dtype).bits / 8) +
                                 ") to the end: " + std::to_string(diff.mismatched) +
                                 " mismatches, actual 0 at all of them");
    }
    const Tensor nothing = emptied(golden, [](const Words&) { return true; });
    CHECK_THAT(hint_of(nothing, golden), StartsWith("zero-tail: actual is 0 throughout: "));
  }
}

TEST_CASE("a tail of zeros in the stored array is found") {
  const Tensor golden = random_tensor(DType::float16, kDims, 10);
  Bytes data = stored("kHWC8", golden);
  std::fill(data.end() - 2000, data.end(), std::byte{0});
  const std::string hint =
      hint_of(Memory(DType::float16, kDims, "kHWC8", data), Memory(golden, "kHWC8"));
  CHECK_THAT(hint, StartsWith("zero-tail: actual is 0 from stored element ") &&
                       Contains("(byte " + std::to_string(data.size() - 2000) + ")"));
}

TEST_CASE("padding that was not cleared is found") {
  std::uint64_t seed = 20;
  for (const DType dtype : {DType::float32, DType::float16, DType::int8}) {
    const Tensor full = random_tensor(dtype, kDims, ++seed);
    const auto lanes = [](const Words& index) { return index[1] % 8 >= 5; };
    const btf::TensorDiff diff = diff_of(full, emptied(full, lanes));
    CHECK(hint_of(diff) == "stale-padding: all " + std::to_string(diff.mismatched) +
                               " mismatches have dim 1 (C) % 8 >= 5, where golden is 0 "
                               "throughout: padding that was not cleared");
    const auto edge = [](const Words& index) { return index[3] >= 13; };
    CHECK_THAT(hint_of(full, emptied(full, edge)),
               StartsWith("stale-padding: ") && Contains("dim 3 (W) >= 13,"));
    const auto some = [](const Words& index) { return index[3] >= 13 && index[2] % 3 == 0; };
    CHECK_THAT(hint_of(broken(emptied(full, edge), some), emptied(full, edge)),
               StartsWith("stale-padding: ") && Contains("dim 3 (W) >= 13,"));
  }
}

TEST_CASE("the region that is wrong is found") {
  struct Region {
    bool (*broken)(const Words& index);
    std::string text;
  };
  const std::vector<Region> regions{
      {[](const Words& i) { return i[1] == 17; }, "dim 1 (C) = 17 (448 elements)"},
      {[](const Words& i) { return i[1] % 8 >= 5; }, "dim 1 (C) % 8 >= 5 (4032 elements)"},
      {[](const Words& i) { return i[1] % 4 == 3; }, "dim 1 (C) % 4 == 3 (2688 elements)"},
      {[](const Words& i) { return i[2] >= 9; }, "dim 2 (H) >= 9 (3840 elements)"},
      {[](const Words& i) { return i[2] < 3; }, "dim 2 (H) < 3 (2304 elements)"},
      {[](const Words& i) { return i[0] == 1; }, "dim 0 (N) = 1 (5376 elements)"},
      {[](const Words& i) { return i[3] >= 4 && i[3] < 8; }, "dim 3 (W) in 4..7 (2688 elements)"},
      {[](const Words& i) { return i[3] % 2 == 1; }, "dim 3 (W) % 2 == 1 (5376 elements)"},
      {[](const Words& i) { return i[2] >= 4 && i[2] < 8 && i[3] >= 8 && i[3] < 12; },
       "dim 3 (W) in 8..11 and dim 2 (H) in 4..7 (768 elements)"},
      {[](const Words& i) { return i[1] == 3 && i[2] >= 7; },
       "dim 1 (C) = 3 and dim 2 (H) >= 7 (224 elements)"}};
  std::uint64_t seed = 40;
  for (const Region& region : regions)
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
      const Tensor golden = random_tensor(dtype, kDims, ++seed);
      const btf::TensorDiff diff = diff_of(broken(golden, region.broken), golden);
      CHECK(hint_of(diff) ==
            "region: all " + std::to_string(diff.mismatched) + " mismatches have " + region.text);
    }
}

TEST_CASE("the region says what is there") {
  const Tensor golden = random_tensor(DType::float32, kDims, 70);
  const auto channel = [](const Words& index) { return index[1] == 5; };
  CHECK(hint_of(emptied(golden, channel), golden) ==
        "region: all 448 mismatches have dim 1 (C) = 5 (448 elements); actual is 0 there");
  Tensor actual = golden;
  for (std::uint64_t i = 0; i < actual.codes.size(); ++i)
    if (channel(index_of(kDims, i))) actual.codes[i] = 0x7fc00000;
  CHECK(hint_of(actual, golden) ==
        "region: all 448 mismatches have dim 1 (C) = 5 (448 elements); actual is NaN there");
}

TEST_CASE("a region of the stored array is found") {
  const Tensor golden = random_tensor(DType::float16, kDims, 80);
  Bytes data = stored("kCHW16", golden);
  const Bytes junk = random_bytes(512, 81);
  std::copy(junk.begin(), junk.end(), data.begin() + 4096);
  const std::string hint =
      hint_of(Memory(DType::float16, kDims, "kCHW16", data), Memory(golden, "kCHW16"));
  CHECK_THAT(hint, StartsWith("region: ") && Contains("stored position in 2048..2303"));
}

TEST_CASE("noise within the tolerance does not hide a region, other mismatches do") {
  const Tensor golden = random_tensor(DType::float32, kDims, 90);
  Random random(91);
  Values values = broken(golden, [](const Words& index) { return index[2] == 6; }).values();
  for (double& value : values) value += 1e-4 * gaussian(random);
  btf::DiffOptions options;
  options.tolerance.atol = 1e-3;
  CHECK_THAT(hint_of(tensor(DType::float32, kDims, values), golden, options),
             StartsWith("region: ") && Contains("dim 2 (H) = 6 "));
  CHECK(hint_of(tensor(DType::float32, kDims, values), golden) == "");
}
