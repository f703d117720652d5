#include <catch2/catch.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "support/random_tensor.h"
#include "unit/diff/diff_cases.h"

using namespace diff_cases;

TEST_CASE("diff: equality is of values") {
  CHECK(passes(f32({1, 2, 3}), f32({1, 2, 3})));
  CHECK(passes(f32({0.0F}), f32({-0.0F})));
  CHECK_FALSE(passes(f32({1, 2, 3}), f32({1, 2, 3.0000002F})));
  CHECK(passes(line(DType::boolean, {0, 5}), line(DType::boolean, {0, 1})));
  CHECK(passes(line(DType::int8, {0xff}), line(DType::int64, {~0ULL})));
  CHECK_FALSE(passes(line(DType::int8, {0xff}), line(DType::uint8, {0xff})));
}

TEST_CASE("diff: at, just below and just above the threshold") {
  struct Row {
    DType dtype;
    std::uint64_t actual;
    std::uint64_t golden;
    double error;
    bool golden_is_one = false;
  };
  constexpr std::uint64_t k53 = 1ULL << 53;
  const Row rows[] = {
      {DType::float64, 0x3ff0000000000001, 0x3ff0000000000000, 0x1p-52, true},
      {DType::float64, 1, 0, 0x1p-1074},
      {DType::float32, 0x3fc00000, 0x3f800000, 0.5, true},
      {DType::float32, 0x3f800001, 0x3f800000, 0x1p-23, true},
      {DType::float32, 1, 0, 0x1p-149},
      {DType::float16, 0x3e00, 0x3c00, 0.5, true},
      {DType::float16, 0x7bff, 0xfbff, 131008},
      {DType::float16, 1, 0x8000, 0x1p-24},
      {DType::bfloat16, 0x3fc0, 0x3f80, 0.5, true},
      {DType::bfloat16, 0x3f81, 0x3f80, 0x1p-7, true},
      {DType::float8_e4m3fn, 0x3c, 0x38, 0.5, true},
      {DType::float8_e4m3fn, 0x7e, 0xfe, 896},
      {DType::float8_e5m2, 0x3e, 0x3c, 0.5, true},
      {DType::float8_e8m0fnu, 128, 127, 1, true},
      {DType::float8_e4m3fnuz, 0x44, 0x40, 0.5, true},
      {DType::float8_e4m3fnuz, 0x7f, 0xff, 480},
      {DType::float8_e5m2fnuz, 0x42, 0x40, 0.5, true},
      {DType::float8_e3m4, 0x38, 0x30, 0.5, true},
      {DType::float8_e4m3, 0x3c, 0x38, 0.5, true},
      {DType::float8_e4m3b11fnuz, 0x5c, 0x58, 0.5, true},
      {DType::float4_e2m1fn, 3, 2, 0.5, true},
      {DType::int4, 8, 7, 15},
      {DType::uint4, 15, 0, 15},
      {DType::int8, 0x80, 0x7f, 255},
      {DType::uint8, 0, 1, 1, true},
      {DType::uint8, 255, 0, 255},
      {DType::int16, 0x8000, 0x7fff, 65535},
      {DType::uint16, 0, 0xffff, 65535},
      {DType::int32, 0x80000000, 0x7fffffff, 4294967295.0},
      {DType::uint32, 0, 0xffffffff, 4294967295.0},
      {DType::int64, k53 + 1, k53, 1},
      {DType::int64, (1ULL << 63) - 1, (1ULL << 63) - 2, 1},
      {DType::int64, 1ULL << 63, 0, 0x1p63},
      {DType::uint64, ~0ULL, ~0ULL - 1, 1},
      {DType::uint64, ~0ULL, ~0ULL - 0x7ff, 0x7ff},
      {DType::boolean, 1, 0, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(btf::info(row.dtype).name, row.actual, row.golden);
    const Tensor actual = line(row.dtype, {row.actual});
    const Tensor golden = line(row.dtype, {row.golden});
    CHECK_FALSE(passes(actual, golden));
    CHECK_FALSE(passes(actual, golden, tolerance(0, below(row.error))));
    CHECK(passes(actual, golden, tolerance(0, row.error)));
    CHECK(passes(golden, actual, tolerance(0, row.error)));
    CHECK(passes(actual, golden, tolerance(0, above(row.error))));
    const TensorDiff diff = diff_of(actual, golden);
    CHECK(diff.max_abs == row.error);
    CHECK(diff.required_atol == row.error);
    if (!row.golden_is_one) continue;
    CHECK_FALSE(passes(actual, golden, tolerance(below(row.error), 0)));
    CHECK(passes(actual, golden, tolerance(row.error, 0)));
    CHECK(passes(actual, golden, tolerance(above(row.error), 0)));
    CHECK(diff.max_rel == row.error);
    CHECK(diff.required_rtol == row.error);
  }
}

TEST_CASE("diff: the formula adds both tolerances, and rtol is of golden") {
  CHECK(passes(f32({3}), f32({2}), tolerance(0.25, 0.5)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.25, 0.49999999999)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.24999999999, 0.5)));
  CHECK(passes(f32({3}), f32({2}), tolerance(0.5, 0)));
  CHECK(passes(f32({2}), f32({3}), tolerance(0.34, 0)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.34, 0)));
  // No rtol helps against a golden 0.
  CHECK_FALSE(passes(f32({1e-30F}), f32({0}), tolerance(1e300, 0)));
  CHECK(diff_of(f32({1e-30F}), f32({0})).max_rel == kInf);
  CHECK_FALSE(diff_of(f32({1e-30F}), f32({0})).required_rtol);
  CHECK(passes(f32({0}), f32({1e-30F}), tolerance(1, 0)));
}

TEST_CASE("diff: 64-bit integers are never rounded") {
  constexpr std::uint64_t kMin = 1ULL << 63;
  const Tensor low = line(DType::int64, {kMin});
  const Tensor high = line(DType::int64, {kMin - 1});
  // The distance is 2^64 - 1, which no double is.
  CHECK_FALSE(passes(low, high, tolerance(0, below(0x1p64))));
  CHECK(passes(low, high, tolerance(0, 0x1p64)));
  CHECK(diff_of(low, high).required_atol == 0x1p64);
  // 2^62 + 1: the double below it is nearer, but not enough.
  const Tensor odd = line(DType::int64, {(1ULL << 62) + 1});
  const Tensor zero = line(DType::int64, {0});
  CHECK_FALSE(passes(odd, zero, tolerance(0, 0x1p62)));
  CHECK(passes(odd, zero, tolerance(0, above(0x1p62))));
  CHECK(diff_of(odd, zero).required_atol == above(0x1p62));
  // Against floats too.
  CHECK_FALSE(passes(line(DType::int64, {(1ULL << 53) + 1}), f64({0x1p53})));
  CHECK(passes(line(DType::uint64, {1ULL << 63}), f32({0x1p63F})));
  CHECK_FALSE(passes(line(DType::uint64, {~0ULL}), f32({0x1p64F})));
  CHECK_FALSE(passes(line(DType::int64, {~0ULL}), line(DType::uint64, {~0ULL})));
}

TEST_CASE("diff: doubles further apart than the largest double") {
  const Tensor low = f64({-1e308});
  const Tensor high = f64({1e308});
  CHECK_FALSE(passes(low, high));
  CHECK_FALSE(passes(low, high, tolerance(0, std::numeric_limits<double>::max())));
  CHECK_FALSE(passes(low, high, tolerance(1.9, 0)));
  CHECK_FALSE(passes(low, high, tolerance(below(2), 0)));
  CHECK(passes(low, high, tolerance(2, 0)));
  CHECK(passes(low, high, tolerance(1, 1e308)));
  const TensorDiff diff = diff_of(low, high);
  CHECK(diff.max_rel == 2);
  CHECK(diff.required_rtol == 2.0);
  CHECK_FALSE(diff.required_atol);
  CHECK(diff.worst_rel->rel_error == 2);
}

TEST_CASE("diff: NaN and Inf, every pair") {
  const std::vector<std::pair<DType, Words>> types{
      {DType::float32, {0x3f800000, 0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000}},
      {DType::float64,
       {0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000001, 0x7ff0000000000000,
        0xfff0000000000000}},
      {DType::float16, {0x3c00, 0x7e00, 0xfe01, 0x7c00, 0xfc00}},
      {DType::bfloat16, {0x3f80, 0x7fc0, 0xffc1, 0x7f80, 0xff80}},
      {DType::float8_e5m2, {0x3c, 0x7e, 0xfd, 0x7c, 0xfc}},
      {DType::float8_e3m4, {0x30, 0x78, 0xf1, 0x70, 0xf0}},
      {DType::float8_e4m3, {0x38, 0x7c, 0xf9, 0x78, 0xf8}}};
  enum { kOne, kNan, kNanToo, kPlus, kMinus };
  for (const auto& [left, left_codes] : types) {
    for (const auto& [right, right_codes] : types) {
      for (int a = kOne; a <= kMinus; ++a) {
        for (int g = kOne; g <= kMinus; ++g) {
          const bool a_nan = a == kNan || a == kNanToo;
          const bool g_nan = g == kNan || g == kNanToo;
          const bool a_inf = a >= kPlus;
          const bool g_inf = g >= kPlus;
          const Tensor actual = line(left, {left_codes[static_cast<std::size_t>(a)]});
          const Tensor golden = line(right, {right_codes[static_cast<std::size_t>(g)]});
          for (const bool equal_nan : {true, false}) {
            // No tolerance helps.
            for (const double allowed : {0.0, 1e300}) {
              DiffOptions options = tolerance(allowed, allowed);
              options.tolerance.equal_nan = equal_nan;
              const TensorDiff diff = diff_of(actual, golden, options);
              const bool same = (a_nan && g_nan && equal_nan) || (a == g && !a_nan);
              CAPTURE(btf::info(left).name, btf::info(right).name, a, g, equal_nan, allowed);
              CHECK((diff.result == DiffResult::same) == same);
              CHECK(diff.mismatched == (same ? 0 : 1));
              CHECK(diff.nan.both == (a_nan && g_nan));
              CHECK(diff.nan.actual == (a_nan && !g_nan));
              CHECK(diff.nan.golden == (!a_nan && g_nan));
              CHECK(diff.inf.both == (a_inf && a == g));
              CHECK(diff.inf.opposite == (a_inf && g_inf && a != g));
              CHECK(diff.inf.actual == (a_inf && !g_inf));
              CHECK(diff.inf.golden == (!a_inf && g_inf));
              CHECK(diff.required_atol.has_value() == same);
              CHECK(diff.required_rtol.has_value() == same);
              CHECK(diff.worst_abs.has_value() == !same);
              CHECK(diff.max_abs == 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("diff: types without Inf have NaN, types without NaN have neither") {
  CHECK(diff_of(line(DType::float8_e4m3fn, {0x7f, 0xff}), f32({NAN, 1})).nan.both == 1);
  CHECK(diff_of(line(DType::float8_e8m0fnu, {0xff}), f32({NAN})).result == DiffResult::same);
  CHECK(diff_of(line(DType::float8_e4m3fnuz, {0x80}), f32({NAN})).result == DiffResult::same);
  CHECK(diff_of(line(DType::float4_e2m1fn, {7}), f32({6})).result == DiffResult::same);
  CHECK_FALSE(passes(line(DType::int32, {0}), f32({NAN})));
}

TEST_CASE("diff: NaN beside finite mismatches leaves those the worst") {
  const TensorDiff diff = diff_of(f32({NAN, 1, 5, INFINITY}), f32({1, 1, 2, 1}));
  CHECK(diff.mismatched == 3);
  CHECK(diff.worst_abs->index == Words{2});
  CHECK(diff.worst_abs->abs_error == 3);
  CHECK(diff.worst_rel->index == Words{2});
  CHECK(diff.first.size() == 3);
  CHECK_FALSE(diff.required_atol);
  const TensorDiff special = diff_of(f32({1, NAN, INFINITY}), f32({1, 1, 2}));
  CHECK(special.worst_abs->index == Words{1});
  CHECK(special.worst_rel->index == Words{1});
}

TEST_CASE("diff: everything against brute force") {
  Random random(1);
  const std::vector<std::pair<DType, DType>> pairs{{DType::float32, DType::float32},
                                                   {DType::float64, DType::float64},
                                                   {DType::float16, DType::float16},
                                                   {DType::bfloat16, DType::bfloat16},
                                                   {DType::float8_e4m3fn, DType::float8_e4m3fn},
                                                   {DType::float8_e5m2, DType::float8_e5m2},
                                                   {DType::float8_e8m0fnu, DType::float8_e8m0fnu},
                                                   {DType::float8_e4m3fnuz, DType::float8_e4m3fnuz},
                                                   {DType::float8_e3m4, DType::float8_e3m4},
                                                   {DType::float4_e2m1fn, DType::float4_e2m1fn},
                                                   {DType::int4, DType::int4},
                                                   {DType::uint4, DType::uint4},
                                                   {DType::int8, DType::int8},
                                                   {DType::uint8, DType::uint8},
                                                   {DType::int64, DType::int64},
                                                   {DType::uint64, DType::uint64},
                                                   {DType::boolean, DType::boolean}};
  for (const auto& [left, right] : pairs) {
    for (const std::uint64_t count : {1U, 100U, 1024U, 3000U}) {
      const Tensor golden = random_tensor(right, {count}, random);
      const Tensor actual = disturbed(golden, random);
      for (const DiffOptions& options :
           {tolerance(0, 0), tolerance(0.013, 0), tolerance(0, 0.7), tolerance(1e-3, 1e-5)}) {
        CAPTURE(btf::info(left).name, count, options.tolerance.rtol, options.tolerance.atol);
        check_against(diff_of(actual, golden, options), actual, golden, options);
      }
    }
  }
  // Any two types.
  for (const btf::DTypeInfo& left : btf::dtypes()) {
    for (const btf::DTypeInfo& right : btf::dtypes()) {
      const Tensor actual = random_tensor(left.dtype, {97}, random);
      const Tensor golden = random_tensor(right.dtype, {97}, random);
      DiffOptions options = tolerance(0.317, 0.173);
      options.show = 200;
      CAPTURE(left.name, right.name);
      check_against(diff_of(actual, golden, options), actual, golden, options);
    }
  }
}

TEST_CASE("diff: exactly the required tolerance passes, the next smaller one does not") {
  Random random(2);
  const std::vector<std::pair<DType, DType>> pairs{
      {DType::float64, DType::float64}, {DType::float32, DType::float32},
      {DType::float16, DType::float32}, {DType::bfloat16, DType::float64},
      {DType::int64, DType::int64},     {DType::uint64, DType::int64},
      {DType::int8, DType::float16},    {DType::float8_e4m3fn, DType::bfloat16},
      {DType::float64, DType::int64},   {DType::int4, DType::uint8}};
  int tolerable = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto& [left, right] = pairs[random.below(pairs.size())];
    const std::uint64_t count = random.between(1, 3);
    Tensor golden = random_tensor(right, {count}, random);
    // Subnormal products too.
    if (right == DType::float64 && random.below(3) == 0)
      for (std::uint64_t& code : golden.codes) code &= 0x800fffffffffffff;
    const Tensor actual =
        left == right ? disturbed(golden, random) : random_tensor(left, {count}, random);
    const TensorDiff diff = diff_of(actual, golden);
    CAPTURE(btf::info(left).name, btf::info(right).name, actual.codes, golden.codes);
    if (diff.required_atol) {
      ++tolerable;
      const double least = *diff.required_atol;
      if (!passes(actual, golden, tolerance(0, least)))
        CHECK(passes(actual, golden, tolerance(0, least)));
      if (least > 0 && passes(actual, golden, tolerance(0, below(least))))
        CHECK_FALSE(passes(actual, golden, tolerance(0, below(least))));
    }
    if (diff.required_rtol) {
      const double least = *diff.required_rtol;
      if (!passes(actual, golden, tolerance(least, 0)))
        CHECK(passes(actual, golden, tolerance(least, 0)));
      if (least > 0 && passes(actual, golden, tolerance(below(least), 0)))
        CHECK_FALSE(passes(actual, golden, tolerance(below(least), 0)));
    }
  }
  CHECK(tolerable > 1000);
}

TEST_CASE("diff: a product that is subnormal has a least rtol too") {
  const Tensor actual = f64({above(1e-300)});
  const Tensor golden = f64({1e-300});
  REQUIRE_FALSE(passes(actual, golden));
  const double least = diff_of(actual, golden).required_rtol.value();
  CHECK(passes(actual, golden, tolerance(least, 0)));
  CHECK_FALSE(passes(actual, golden, tolerance(below(least), 0)));
}

TEST_CASE("diff: what passes, passes with any looser tolerance") {
  Random random(3);
  const double steps[] = {
      0,   0x1p-1074, 1e-30, 1e-9, 1e-3, 0.3, 1, 7, 1e9, 1e300, std::numeric_limits<double>::max(),
      kInf};
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::int64,
                            DType::uint64, DType::int8, DType::float8_e5m2}) {
    const Tensor golden = random_tensor(dtype, {60}, random);
    Tensor actual = disturbed(golden, random);
    actual.codes[0] = 0;
    std::vector<std::vector<std::uint64_t>> left(12, std::vector<std::uint64_t>(12));
    for (std::size_t r = 0; r < 12; ++r) {
      for (std::size_t a = 0; a < 12; ++a) {
        left[r][a] = diff_of(actual, golden, tolerance(steps[r], steps[a])).mismatched;
        CAPTURE(btf::info(dtype).name, steps[r], steps[a]);
        if (r > 0) CHECK(left[r][a] <= left[r - 1][a]);
        if (a > 0) CHECK(left[r][a] <= left[r][a - 1]);
      }
    }
  }
}
