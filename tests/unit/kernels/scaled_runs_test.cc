// Casts with a scale in vectors, for every instruction set that this CPU has, against the reference
// of scaled_cast.cc: bytes and accounts. That is held against an oracle in quantize_test.cc.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "kernels/cast/kernel_table.h"
#include "kernels/scale/scale.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Scaled {
  std::vector<double> scales;  // one for each element
  std::vector<std::int64_t> zero_points;
};

bool is_wide_float(DType dtype) { return info(dtype).floating() && info(dtype).bits > 8; }

bool is_scaled(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return row.kind != NumberKind::boolean && !is_wide_float(dtype) && !row.fp.power_of_two;
}

std::uint64_t ones(DType dtype) { return ~0ULL >> (64 - info(dtype).bits); }

std::uint64_t code_of(DType dtype, double value) {
  if (dtype == DType::float64) return std::bit_cast<std::uint64_t>(value);
  std::uint64_t code = 0;
  LossAccount ignored;
  cast_kernels().back().run({DType::float64, dtype, {}},
                            {.source = reinterpret_cast<const std::byte*>(&value),
                             .target = reinterpret_cast<std::byte*>(&code),
                             .n0 = 1},
                            ignored);
  return code;
}

// Products of the target's values, and of what lies between two of them, with the scale, and the
// codes next to those; and, now and then, NaN, Inf, zero and anything.
std::uint64_t number_to_quantize(const ScaledCast& cast, double scale, bool specials,
                                 Random& random) {
  const std::uint64_t choice = random.below(specials ? 8 : 6);
  if (choice == 6) return random.next() & ones(cast.from);
  if (choice == 7) {
    const std::array some{NAN, -NAN, INFINITY, -INFINITY, 0.0F, -0.0F};
    return code_of(cast.from, static_cast<double>(some.at(random.below(some.size()))));
  }
  double value = 0;
  if (info(cast.to).floating()) {
    const auto at = [&](std::uint64_t code) { return value_double(cast.to, code & ones(cast.to)); };
    const std::uint64_t near = random.next();
    value = choice < 2 ? at(near) : at(near) / 2 + at(near + 1) / 2;
  } else {
    const unsigned bits = std::min<unsigned>(info(cast.to).bits, 32) + 1U;
    value = static_cast<double>(random.next() & ((1ULL << bits) - 1)) / 2 -
            static_cast<double>(1ULL << bits) / 4;
    if (choice < 3) value = static_cast<double>(random.below(500)) / 2 - 125;
  }
  const std::uint64_t code = code_of(cast.from, value * scale);
  return (code + random.below(3) - 1) & ones(cast.from);
}

struct Outcome {
  Bytes bytes;
  LossAccount account;
};

bool same(const LossAccount& a, const LossAccount& b) {
  return a.elements == b.elements && a.overflowed == b.overflowed && a.nan_lost == b.nan_lost &&
         a.to_zero == b.to_zero && a.inexact == b.inexact && a.nan == b.nan &&
         a.sign_lost == b.sign_lost &&
         std::bit_cast<std::uint64_t>(a.max_abs) == std::bit_cast<std::uint64_t>(b.max_abs) &&
         std::bit_cast<std::uint64_t>(a.max_rel) == std::bit_cast<std::uint64_t>(b.max_rel);
}

Outcome by_reference(const ScaledCast& cast, ScaleDirection direction, const Bytes& source,
                     const Scaled& scaled) {
  const std::size_t from = info(cast.from).buffer_bytes();
  const std::size_t to = info(cast.to).buffer_bytes();
  Outcome result{Bytes(scaled.scales.size() * to), {}};
  for (std::size_t i = 0; i < scaled.scales.size(); ++i) {
    ScaledCast one = cast;
    one.zero_point = scaled.zero_points[i];
    (direction == ScaleDirection::quantize ? quantize_run : dequantize_run)(
        one, number::from_double(scaled.scales[i]), source.data() + i * from,
        result.bytes.data() + i * to, 1, result.account);
  }
  return result;
}

std::string text(const ScaledCast& cast, const Scaled& scaled) {
  return std::string(info(cast.from).name) + " to " + std::string(info(cast.to).name) +
         ", rounding " + std::to_string(static_cast<int>(cast.policy.rounding)) + ", scale " +
         number_text(scaled.scales.front()) + ", zero point " +
         std::to_string(scaled.zero_points.front()) + ", ";
}

class ScalesInMemory final : public EachScale {
 public:
  ScalesInMemory(const Scaled& scaled, const ScaledRuns& runs) : scaled_(scaled) {
    for (std::size_t i = 0; i < scaled.scales.size(); ++i)
      use_ = use_.with(runs.use(scaled.scales[i], scaled.zero_points[i]));
  }
  ScaleUse use() const override { return use_; }
  void doubles(std::uint64_t at, std::size_t count, double* scales,
               double* zero_points) const override {
    std::copy_n(scaled_.scales.begin() + static_cast<std::ptrdiff_t>(at), count, scales);
    std::copy_n(scaled_.zero_points.begin() + static_cast<std::ptrdiff_t>(at), count, zero_points);
  }
  void floats(std::uint64_t at, std::size_t count, FloatArrays& scales) const override {
    for (std::size_t i = 0; i < count; ++i) {
      const FloatScale scale = float_scale(scaled_.scales[at + i]);
      scales.high[i] = scale.high;
      scales.low[i] = scale.low;
      scales.inverse[i] = scale.inverse;
    }
  }

 private:
  const Scaled& scaled_;
  ScaleUse use_{true, true, true, true};
};

// Empty if all instruction sets give what the reference gives.
std::string difference(const ScaledCast& cast, ScaleDirection direction, const Bytes& source,
                       const Scaled& scaled, bool each) {
  const Outcome expected = by_reference(cast, direction, source, scaled);
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    Outcome found{Bytes(expected.bytes.size()), {}};
    const ScaledRuns runs(cast, direction);
    const ScaledRun run{source.data(), found.bytes.data(), scaled.scales.size()};
    if (each)
      runs.run_each(ScalesInMemory(scaled, runs), run, found.account);
    else
      runs.run(scaled.scales.front(), scaled.zero_points.front(), run, found.account);
    const std::string where = text(cast, scaled) + cpu_level_name(level) + ": ";
    const auto at = static_cast<std::size_t>(
        std::ranges::mismatch(found.bytes, expected.bytes).in1 - found.bytes.begin());
    if (at != found.bytes.size())
      return where + "element " + std::to_string(at / info(cast.to).buffer_bytes());
    if (!same(found.account, expected.account)) return where + "the account";
  }
  return "";
}

Bytes to_bytes(DType dtype, const std::vector<std::uint64_t>& codes) {
  const std::size_t size = info(dtype).buffer_bytes();
  Bytes bytes(codes.size() * size);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(bytes.data() + i * size, &codes[i], size);
  return bytes;
}

const std::array<double, 12> kScales{1.0,  0.5,      0.1,     0.02,       0.1F,    3.0,
                                     1e-3, 0x1p-130, 6.25e30, 0x1.8p-149, 1.0 / 3, 0x1.fffffep127};

std::vector<std::int64_t> zero_points(DType codes) {
  if (info(codes).floating()) return {0};
  const bool has_sign = info(codes).kind == NumberKind::signed_integer;
  const auto largest = static_cast<std::int64_t>(largest_code(codes) & 0x7fffffffffff);
  return {0, 3, has_sign ? -largest - 1 : largest};
}

template <typename Check>
void for_each_cast(ScaleDirection direction, Check&& check) {
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      if (from.dtype == DType::boolean || to.dtype == DType::boolean) continue;
      const bool quantizes = direction == ScaleDirection::quantize;
      if (!is_scaled(quantizes ? to.dtype : from.dtype)) continue;
      if (!quantizes && !is_wide_float(to.dtype)) continue;
      std::vector<CastPolicy> policies{{}};
      if (quantizes && to.floating()) policies.push_back({Overflow::ieee});
      if (quantizes && !to.floating())
        for (const Rounding rounding : {Rounding::zero, Rounding::up, Rounding::down})
          policies.push_back({Overflow::saturate, rounding});
      for (const CastPolicy& policy : policies)
        check(ScaledCast{from.dtype, to.dtype, policy, 0},
              zero_points(quantizes ? to.dtype : from.dtype));
    }
}

Bytes source_for(const ScaledCast& cast, ScaleDirection direction, const Scaled& scaled,
                 bool specials, Random& random) {
  std::vector<std::uint64_t> codes(scaled.scales.size());
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = direction == ScaleDirection::quantize
                   ? number_to_quantize(cast, scaled.scales[i], specials, random)
                   : random.next() >> random.below(info(cast.from).bits) & ones(cast.from);
  return to_bytes(cast.from, codes);
}

}  // namespace

TEST_CASE("scaled runs: one scale, numbers at and between codes", "[scaled]") {
  Random random(71);
  for (const ScaleDirection direction : {ScaleDirection::quantize, ScaleDirection::dequantize})
    for_each_cast(direction, [&](const ScaledCast& cast, const std::vector<std::int64_t>& zeros) {
      for (const double scale : kScales)
        for (const std::int64_t zero_point : zeros)
          for (const bool specials : {false, true}) {
            const std::size_t count = random.below(20) == 0 ? 530 : 16 + random.below(20);
            const Scaled scaled{std::vector(count, scale), std::vector(count, zero_point)};
            REQUIRE(difference(cast, direction,
                               source_for(cast, direction, scaled, specials, random), scaled,
                               false) == "");
          }
    });
}

TEST_CASE("scaled runs: a scale for each element, some of them zero", "[scaled]") {
  Random random(72);
  for (const ScaleDirection direction : {ScaleDirection::quantize, ScaleDirection::dequantize})
    for_each_cast(direction, [&](const ScaledCast& cast, const std::vector<std::int64_t>& zeros) {
      const ScaledRuns runs(cast, direction);
      for (int round = 0; round < 6; ++round) {
        Scaled scaled;
        const std::size_t count = round == 0 ? 1 : round == 1 ? 1030 : 3 + random.below(60);
        while (scaled.scales.size() < count) {
          const double scale = kScales.at(random.below(kScales.size()));
          const std::int64_t zero_point = zeros[random.below(zeros.size())];
          if (!runs.takes(scale, zero_point)) {
            if (!runs.takes(1, 0)) return;
            continue;
          }
          // Blocks of zeros have a scale of 0; only floats have blocks.
          const bool zero = direction == ScaleDirection::quantize && info(cast.to).floating() &&
                            random.below(9) == 0;
          scaled.scales.push_back(zero ? 0 : scale);
          scaled.zero_points.push_back(zero_point);
        }
        REQUIRE(difference(cast, direction,
                           source_for(cast, direction, scaled, round % 2 == 0, random), scaled,
                           true) == "");
      }
    });
}

// What float kernels are made for: many numbers of which few are special, and few values again and
// again, whose errors are all as large.
TEST_CASE("scaled runs: long runs of usual numbers", "[scaled]") {
  using enum DType;
  Random random(74);
  const auto number = [&](double scale, int kind) -> double {
    const double any = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1;
    if (kind == 0) return any * 150 * scale;
    if (kind == 1) return any * std::ldexp(scale, static_cast<int>(random.below(20)) - 12);
    if (kind == 2) return std::round(any * 140) * scale;
    // Ties, also between the largest code and what is beyond.
    if (kind == 4) return std::round(any * 1000) * scale / 2;
    return std::round(any * 12) / 2;
  };
  for (const DType from : {float32, float16, bfloat16, int8, float8_e4m3fn})
    for (const DType to : {int8, uint8, int4, float8_e4m3fn, float8_e5m2, float4_e2m1fn,
                           float8_e4m3fnuz, float8_e3m4})
      for (const double scale : {1.0, 0.25, 0.02, 0.1, static_cast<double>(0.1F), 3.0, 1.0 / 3})
        for (const int kind : {0, 1, 2, 3, 4}) {
          const bool shifts = !info(to).floating() && random.below(2) == 0;
          const std::int64_t zero_point = shifts ? 5 : 0;
          const ScaledCast cast{from, to, {}, zero_point};
          const std::size_t count = 1500 + random.below(600);
          const Scaled scaled{std::vector(count, scale), std::vector(count, zero_point)};
          std::vector<std::uint64_t> codes(count);
          for (std::uint64_t& code : codes) code = code_of(from, number(scale, kind));
          if (random.below(3) == 0) codes[random.below(count)] = code_of(from, NAN);
          if (random.below(3) == 0) codes[random.below(count)] = code_of(from, -1e9 * scale);
          INFO(static_cast<int>(kind));
          const Bytes source = to_bytes(from, codes);
          REQUIRE(difference(cast, ScaleDirection::quantize, source, scaled, false) == "");
          REQUIRE(difference(cast, ScaleDirection::quantize, source, scaled, true) == "");
        }
}

TEST_CASE("scaled runs: long runs of codes to float32", "[scaled]") {
  using enum DType;
  Random random(75);
  for (const DType from : {int8, uint8, int4, uint4, int16, float8_e4m3fn, float8_e5m2,
                           float4_e2m1fn, float8_e5m2fnuz})
    for (const double scale : {0.25, 0.02, static_cast<double>(0.1F), 0x1.23456789p-3})
      for (const bool finite : {true, false}) {
        const std::int64_t zero_point = info(from).floating() ? 0 : static_cast<std::int64_t>(3);
        const std::size_t count = 4300 + random.below(600);
        const ScaledCast cast{from, float32, {}, zero_point};
        const Scaled scaled{std::vector(count, scale), std::vector(count, zero_point)};
        std::vector<std::uint64_t> codes(count);
        for (std::uint64_t& code : codes) do
            code = random.next() & ones(from);
          while (finite && !std::isfinite(value_double(from, code)));
        const Bytes source = to_bytes(from, codes);
        REQUIRE(difference(cast, ScaleDirection::dequantize, source, scaled, false) == "");
        if (ScaledRuns(cast, ScaleDirection::dequantize).takes(scale, zero_point))
          REQUIRE(difference(cast, ScaleDirection::dequantize, source, scaled, true) == "");
      }
}

// Of all ways to take them, floats cost the least by far.
TEST_CASE("scaled runs: what floats take", "[scaled]") {
  using enum DType;
  if (!has_float_lanes()) return;
  const auto floats = [](DType from, DType to, double scale, ScaleDirection direction) {
    return ScaledRuns({from, to, {}, 0}, direction).use(scale, 0).floats;
  };
  constexpr auto kDown = ScaleDirection::quantize;
  constexpr auto kUp = ScaleDirection::dequantize;
  for (const DType from : {float32, float16, bfloat16})
    for (const DType to : {int8, uint8, int4, float8_e4m3fn, float8_e5m2fnuz, float4_e2m1fn})
      CHECK(floats(from, to, 0.1F, kDown));
  for (const DType from : {int8, uint8, uint4, float8_e4m3fn, float8_e5m2, float4_e2m1fn})
    CHECK(floats(from, float32, 0.1F, kUp));
  CHECK_FALSE(floats(float64, int8, 1, kDown));
  CHECK_FALSE(floats(float32, int16, 1, kDown));
  CHECK_FALSE(floats(float32, int8, 1e30, kDown));
  CHECK_FALSE(floats(int8, float32, 0.02, kUp));
  CHECK_FALSE(floats(int8, float16, 1, kUp));
}

TEST_CASE("scaled runs: vectors take the scales that matter", "[scaled]") {
  using enum DType;
  for (const double scale : {0.02, 1.0 / 3, 0.5, 1e-30, 1e30}) {
    CHECK(ScaledRuns({float32, int8, {}, 0}, ScaleDirection::quantize).takes(scale, 7));
    CHECK(ScaledRuns({float16, float8_e4m3fn, {}, 0}, ScaleDirection::quantize).takes(scale, 0));
    CHECK(ScaledRuns({int8, float32, {}, 0}, ScaleDirection::dequantize).takes(scale, -128));
  }
  CHECK_FALSE(ScaledRuns({float32, int8, {}, 0}, ScaleDirection::quantize).takes(0, 0));
  CHECK_FALSE(ScaledRuns({float32, int8, {}, 0}, ScaleDirection::quantize).takes(NAN, 0));
  CHECK_FALSE(ScaledRuns({int64, int8, {}, 0}, ScaleDirection::quantize).takes(1, 0));
}

TEMPLATE_TEST_CASE("largest magnitudes and ranges: of all, of each place, of blocks", "[scaled]",
                   float, double) {
  Random random(73);
  for (const std::size_t count : {1U, 2U, 7U, 8U, 31U, 32U, 33U, 100U}) {
    std::vector<TestType> numbers(count);
    for (TestType& x : numbers) {
      const std::uint64_t kind = random.below(6);
      x = static_cast<TestType>(kind == 0   ? NAN
                                : kind == 1 ? -INFINITY
                                            : static_cast<TestType>(random.below(2000)) - 1000);
    }
    const auto size = [&](std::size_t i) {
      return std::isfinite(numbers[i]) ? std::abs(numbers[i]) : 0;
    };
    TestType all = 5;
    const std::vector<TestType> each(count, 300);
    std::vector<TestType> expected(count, 300);
    std::vector<double> blocks((count + 15) / 16, 0);
    for (std::size_t i = 0; i < count; ++i) {
      all = std::max(all, size(i));
      expected[i] = std::max(expected[i], size(i));
      blocks[i / 16] = std::max(blocks[i / 16], static_cast<double>(size(i)));
    }
    for (const CpuLevel level : cpu_levels()) {
      const ForcedLevel forced(level);
      TestType largest = 5;
      keep_largest_magnitude(numbers.data(), count, largest);
      CHECK(largest == all);
      std::vector<TestType> found = each;
      keep_largest_magnitudes(numbers.data(), count, found.data());
      CHECK(found == expected);
      std::vector<double> of_blocks(blocks.size(), -1);
      block_magnitudes(numbers.data(), count, 16, of_blocks.data());
      CHECK(of_blocks == blocks);

      std::vector<TestType> low(count, -3);
      std::vector<TestType> high(count, 3);
      TestType least = -3;
      TestType most = 3;
      keep_range(numbers.data(), count, least, most);
      keep_ranges(numbers.data(), count, low.data(), high.data());
      TestType lowest = -3;
      TestType highest = 3;
      for (std::size_t i = 0; i < count; ++i) {
        const TestType x = std::isfinite(numbers[i]) ? numbers[i] : 0;
        CHECK(low[i] == std::min(x, TestType{-3}));
        CHECK(high[i] == std::max(x, TestType{3}));
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
      }
      CHECK(least == lowest);
      CHECK(most == highest);
    }
  }
}

}  // namespace btf::test
