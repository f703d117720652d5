// Tensors whose dims differ by how they are written down, where NaN and Inf first are, and
// tolerances by what is compared.
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "btf/diff.h"
#include "support/diff_pair.h"

using btf::DiffOptions;
using btf::DiffResult;
using btf::Dims;
using btf::DType;
using pairs::f64;

namespace {

// 0, 1, 2, ... in row-major order.
pairs::Tensor counted(const bytes::Words& dims) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  pairs::Tensor tensor{DType::int16, dims, {}};
  for (std::uint64_t i = 0; i < count; ++i) tensor.codes.push_back(i);
  return tensor;
}

// numpy.transpose of counted({2, 3, 4}) to dims 1, 2, 0.
pairs::Tensor turned() {
  pairs::Tensor tensor{DType::int16, {3, 4, 2}, {}};
  for (std::uint64_t b = 0; b < 3; ++b)
    for (std::uint64_t c = 0; c < 4; ++c)
      for (std::uint64_t a = 0; a < 2; ++a) tensor.codes.push_back((a * 3 + b) * 4 + c);
  return tensor;
}

std::string hint(const btf::TensorDiff& diff) {
  return diff.hints.empty() ? "" : diff.hints.front().evidence;
}

}  // namespace

TEST_CASE("shapes: compared when asked for, and the place of a mismatch is golden's") {
  pairs::Tensor actual = turned();
  const pairs::Tensor golden = counted({2, 3, 4});
  DiffOptions options;
  options.permute = btf::Permute{{2, 0, 1}};
  CHECK(pairs::diff(actual, golden, options).result == DiffResult::same);
  actual.codes[(1 * 4 + 3) * 2 + 1] = 99;  // [1, 3, 1]
  const btf::TensorDiff diff = pairs::diff(actual, golden, options);
  REQUIRE(diff.first.size() == 1);
  CHECK(diff.first.front().index == Dims{1, 1, 3});
  CHECK(diff.first.front().actual_offset == ((1 * 4 + 3) * 2 + 1) * 2);
  CHECK(diff.first.front().golden_offset == ((1 * 3 + 1) * 4 + 3) * 2);

  options = {};
  options.squeeze = true;
  CHECK(pairs::diff(counted({1, 6, 1, 4}), counted({6, 4, 1}), options).result == DiffResult::same);
  options = {};
  options.reshape_actual = true;
  CHECK(pairs::diff(counted({24}), golden, options).result == DiffResult::same);
  CHECK(pairs::diff(counted({25}), golden, options).result == DiffResult::shape);
  options.permute = btf::Permute{{2, 0, 1}};
  pairs::Tensor flat = golden;
  flat.dims = {4, 6};
  CHECK(pairs::diff(turned(), flat, options).result == DiffResult::same);
}

TEST_CASE("shapes: hinted only if every element is equal, within the tolerance") {
  const pairs::Tensor golden = counted({2, 3, 4});
  pairs::Tensor actual = turned();
  CHECK(hint(pairs::diff(actual, golden, {})) == "equal after permute 2,0,1");
  CHECK(hint(pairs::diff(counted({2, 1, 3, 4}), golden, {})) == "equal after squeeze");
  CHECK(hint(pairs::diff(counted({6, 4}), golden, {})) == "equal after reshape");
  CHECK(hint(pairs::diff(counted({4, 3, 2}), golden, {})) == "equal after reshape");
  CHECK(hint(pairs::diff(actual, golden, pairs::no_hints())).empty());
  // The last element, which a sample need not have.
  actual.codes.back() += 2;
  CHECK(hint(pairs::diff(actual, golden, {})).empty());
  DiffOptions options;
  options.tolerance.atol = 2;
  CHECK(hint(pairs::diff(actual, golden, options)) == "equal after permute 2,0,1");
  CHECK(hint(pairs::diff(counted({23}), golden, options)).empty());
  // A row is no tensor of equal rows.
  CHECK(hint(pairs::diff(counted({4}), golden, options)).empty());
}

TEST_CASE("shapes: padding behind what both have, of either side, by what it is filled with") {
  // Rows of `golden` and then `fill`, up to so many rows of so many.
  const auto padded = [](const pairs::Tensor& golden, std::uint64_t rows, std::uint64_t columns,
                         std::uint64_t fill) {
    pairs::Tensor wide{golden.dtype, {rows, columns}, bytes::Words(rows * columns, fill)};
    for (std::uint64_t r = 0; r < golden.dims[0]; ++r)
      for (std::uint64_t c = 0; c < golden.dims[1]; ++c)
        wide.codes[r * columns + c] = golden.codes[r * golden.dims[1] + c];
    return wide;
  };
  const auto cause = [](const btf::TensorDiff& diff) {
    CHECK(diff.result == DiffResult::shape);
    return diff.hints.empty() ? ""
                              : std::string(btf::cause_name(diff.hints.front().cause)) + ": " +
                                    diff.hints.front().evidence;
  };
  const pairs::Tensor golden = counted({10, 4});
  CHECK(cause(pairs::diff(padded(golden, 30, 4, 0), golden, {})) ==
        "padded: actual is golden padded with 80 elements of 0 along dim 0: the 40 that both have "
        "are equal (`Slice` :10 takes these)");
  CHECK(cause(pairs::diff(golden, padded(golden, 10, 6, 9), {})) ==
        "padded: golden is actual padded with 20 elements of 9 along dim 1: the 40 that both have "
        "are equal (`Slice` :,:4 takes these)");
  CHECK(cause(pairs::diff(padded(golden, 15, 4, 0), padded(golden, 10, 8, 0), {})) ==
        "padded: both are padded with 60 elements of 0 along dim 0 and dim 1: the 40 that both "
        "have are equal (`Slice` :10,:4 takes these)");
  // Rounded on the way.
  pairs::Tensor fine{DType::float32, {10, 4}, {}};
  pairs::Tensor coarse{DType::float16, {10, 4}, {}};
  for (std::uint32_t i = 0; i < 40; ++i) {
    fine.codes.push_back(0x3f800001U + i * 0x2000U);
    coarse.codes.push_back(0x3c00U + i);
  }
  CHECK(cause(pairs::diff(padded(coarse, 12, 4, 0), fine, {})) ==
        "padded: actual is golden padded with 8 elements of 0 along dim 0: the 40 that both have "
        "are equal, 40 of them within float16's rounding (`Slice` :10 takes these)");
  // One element more, in either part; a tensor of what pads it; hints not wanted.
  pairs::Tensor other = padded(golden, 30, 4, 0);
  other.codes[100] = 1;
  CHECK(cause(pairs::diff(other, golden, {})).empty());
  other = padded(golden, 30, 4, 0);
  other.codes[39] = 1;
  CHECK(cause(pairs::diff(other, golden, {})).empty());
  const pairs::Tensor zeros{DType::int16, {10, 4}, bytes::Words(40, 0)};
  CHECK(cause(pairs::diff(padded(zeros, 30, 4, 0), zeros, {})).empty());
  CHECK(cause(pairs::diff(padded(golden, 30, 4, 0), golden, pairs::no_hints())).empty());
}

TEST_CASE("shapes: the first NaN and Inf of each kind, of either side and of both") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  pairs::Tensor actual = f64({kNan, 1, kNan, kNan, kInf, 5, kInf, -kInf, 8});
  pairs::Tensor golden = f64({kNan, 1, 2, 3, kNan, kInf, 6, kInf, -kInf});
  actual.dims = golden.dims = {3, 3};
  const btf::FirstNonfinite first = pairs::diff(actual, golden, {}).first_nonfinite;
  CHECK(first.nan_actual == Dims{0, 2});
  CHECK(first.nan_golden == Dims{1, 1});
  CHECK(first.inf_actual == Dims{1, 1});
  CHECK(first.inf_golden == Dims{1, 2});
  CHECK(first.inf_opposite == Dims{2, 1});
  CHECK(first.nan_both == Dims{0, 0});
  CHECK_FALSE(first.inf_both);
  const btf::FirstNonfinite none =
      pairs::diff(f64({1, kNan, kInf}), f64({2, kNan, kInf}), {}).first_nonfinite;
  CHECK_FALSE((none.nan_actual || none.nan_golden || none.inf_actual || none.inf_golden ||
               none.inf_opposite));
  CHECK(none.nan_both == Dims{1});
  CHECK(none.inf_both == Dims{2});
  // Of tensors that are the same, too.
  const pairs::Tensor same = f64({1, 2, -kInf, kNan, kInf, kNan});
  const btf::TensorDiff alike = pairs::diff(same, same, {});
  CHECK(alike.result == btf::DiffResult::same);
  CHECK(alike.first_nonfinite.inf_both == Dims{2});
  CHECK(alike.first_nonfinite.nan_both == Dims{3});
}

TEST_CASE("a tolerance by what is compared goes before that of all, and behind that of an index") {
  const pairs::Tensor actual = f64({1.25});
  const pairs::Tensor golden = f64({1});
  DiffOptions options = pairs::tolerance(0, 1);
  std::optional<Dims> seen;
  options.pair_tolerance = [&](const btf::TensorDiff& diff) {
    seen = diff.golden->dims;
    return btf::Tolerance{.atol = 0.125};
  };
  CHECK(pairs::diff(actual, golden, options).result == DiffResult::different);
  CHECK(seen == Dims{1});
  options.tensor_tolerance[0] = {.atol = 0.25};
  CHECK(pairs::diff(actual, golden, options).result == DiffResult::same);
}
