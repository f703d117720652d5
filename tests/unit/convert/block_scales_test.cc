#include <catch2/catch.hpp>

#include "unit/convert/quantize_cases.h"

using namespace quantize_cases;

// Files: blocks

TEST_CASE("blocks: data and scales, from every type, with a tail") {
  for (const BlockRule& rule : kBlockRules)
    for (const DType from : all_types())
      for (const std::uint64_t columns : {1U, 16U, 33U, 64U, 75U}) {
        CAPTURE(name_of(from), name_of(rule.element), static_cast<int>(rule.format), columns);
        const Tensor tensor = random_tensor(from, {2, 3, columns}, columns);
        const Blocks expected = expected_blocks(rule, tensor);
        const Converted got = converted(file_of({tensor}), in_blocks(rule.format, rule.element));
        CHECK((got.file == file_of(expected.records(rule))));
        REQUIRE(got.reports.size() == 1);
        CHECK(got.reports[0].scale_targets == (is_nvfp4(rule) ? Words{1, 2} : Words{1}));
        CHECK(got.reports[0].target_dtype == rule.element);
        CHECK(got.reports[0].loss.elements == 6 * columns);
      }
}

TEST_CASE("blocks: the element type need not be named") {
  const Tensor tensor = random_tensor(DType::float32, {4, 40}, 1);
  for (const BlockRule& rule : kBlockRules) {
    if (rule.element == DType::float8_e5m2) continue;
    CHECK((converted(file_of({tensor}), in_blocks(rule.format)).file ==
           converted(file_of({tensor}), in_blocks(rule.format, rule.element)).file));
  }
}

TEST_CASE("blocks: MX scales are floor(log2(max)) less emax, within the type") {
  // One block each: its largest number, which is next to a power of two.
  struct Largest {
    DType dtype{};
    std::uint64_t code = 0;
    int log2 = 0;
  };
  std::vector<Largest> cases;
  const auto add_float = [&](DType dtype, int exponent) {
    const std::uint64_t code = float_code(dtype, std::ldexp(1.0, exponent));
    const std::uint64_t top = std::uint64_t{1} << (bits_of(dtype) - 1);
    cases.push_back({dtype, code, exponent});
    cases.push_back({dtype, code | top, exponent});
    cases.push_back({dtype, code + 1, exponent});
    cases.push_back({dtype, code - 1, exponent - 1});
  };
  for (int exponent = -125; exponent < 128; ++exponent) {
    add_float(DType::float32, exponent);
    add_float(DType::bfloat16, exponent);
  }
  for (int exponent = -1021; exponent < 1024; exponent += 3) add_float(DType::float64, exponent);
  for (int exponent = -13; exponent < 16; ++exponent) add_float(DType::float16, exponent);
  // Subnormal ones.
  for (int bit = 1; bit < 22; ++bit) {
    cases.push_back({DType::float32, 1ULL << bit, bit - 149});
    cases.push_back({DType::float32, (1ULL << bit) - 1, bit - 150});
  }
  cases.push_back({DType::float64, 1, -1074});
  for (int bit = 2; bit < 64; ++bit) {
    cases.push_back({DType::uint64, 1ULL << bit, bit});
    cases.push_back({DType::uint64, (1ULL << bit) - 1, bit - 1});
    cases.push_back({DType::int64, 0 - (1ULL << bit), bit});
    cases.push_back({DType::int64, 0 - ((1ULL << bit) - 1), bit - 1});
  }
  cases.push_back({DType::uint64, ~0ULL, 63});
  cases.push_back({DType::int64, INT64_MAX, 62});
  for (const BlockRule& rule : kBlockRules) {
    if (is_nvfp4(rule)) continue;
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64, DType::float16,
                              DType::uint64, DType::int64}) {
      CAPTURE(name_of(dtype), name_of(rule.element));
      Tensor tensor{dtype, {0, 7}, {}};
      Words wanted;
      for (const Largest& one : cases) {
        if (one.dtype != dtype) continue;
        tensor.codes.resize(7 * ++tensor.dims[0], 0);
        tensor.codes.end()[-3] = one.code;
        wanted.push_back(
            static_cast<std::uint64_t>(std::clamp(one.log2 - rule.emax, -127, 127) + 127));
      }
      REQUIRE(wanted.size() > 50);
      const Blocks expected = expected_blocks(rule, tensor);
      CHECK(expected.scales.codes == wanted);
      CHECK((converted(file_of({tensor}), in_blocks(rule.format, rule.element)).file ==
             file_of(expected.records(rule))));
    }
  }
}

TEST_CASE("blocks: zeros, NaN and Inf") {
  std::vector<double> values(32, 0.0);  // a block of zeros
  values.insert(values.end(), {NAN, 1, -6, INFINITY});
  values.resize(64, 0.5);
  values.insert(values.end(), 32, NAN);
  values.insert(values.end(), 16, -INFINITY);
  values.resize(128, -0.0);
  for (const BlockRule& rule : kBlockRules) {
    CAPTURE(name_of(rule.element), static_cast<int>(rule.format));
    const Tensor tensor = tensor_of(DType::float32, {128}, values);
    const Blocks expected = expected_blocks(rule, tensor);
    const Converted got = converted(file_of({tensor}), in_blocks(rule.format, rule.element));
    CHECK((got.file == file_of(expected.records(rule))));
    const LossAccount& loss = got.reports.at(0).loss;
    CHECK(loss.nan == 33);
    CHECK(loss.nan_lost == (rule.element == DType::float4_e2m1fn ? 33 : 0));
    CHECK(loss.overflowed == 17);  // Inf
    CHECK(expected.scales.codes.front() == 0);
    CHECK(expected.scales.codes.back() == 0);
    // A NaN does not disturb its neighbours.
    const std::uint64_t one = static_cast<std::uint64_t>(33 / rule.block);
    const long double scale =
        oracle_value(scale_type(rule), expected.scales.codes[one]) * expected.tensor_scale;
    CHECK(oracle_value(rule.element, expected.data.codes[34]) * scale == Approx(-6).epsilon(0.1));
  }
}

TEST_CASE("blocks: what lies above the largest element is clamped and counted") {
  // 1.875 * 2^8 = 480 is beyond e4m3fn's 448 under the scale of 2^8, 464 is a tie.
  const Tensor tensor = tensor_of(DType::float32, {4}, {480, 464, 449, -500});
  const Converted got = converted(file_of({tensor}), in_blocks(BlockFormat::mxfp8));
  CHECK((got.file == file_of({Tensor{DType::float8_e4m3fn, {4}, {0x7E, 0x7E, 0x7E, 0xFE}},
                              Tensor{DType::float8_e8m0fnu, {1}, {127}}})));
  CHECK(got.reports[0].loss.overflowed == 2);
  CHECK(got.reports[0].loss.inexact == 2);
  CHECK(got.reports[0].loss.max_abs == 52);
}

TEST_CASE("blocks: nvfp4 has a scale of the tensor on top") {
  // The largest block has the largest scale, 448, and its largest element is 6.
  std::vector<double> values(48, 0.0);
  values[0] = 2688;
  values[1] = -1000;
  values[16] = 6;
  values[17] = 0.25;
  values[32] = 0x1p-9;  // block scale 2^-9 / 6: becomes 0
  const Converted got =
      converted(file_of({tensor_of(DType::float32, {48}, values)}), in_blocks(BlockFormat::nvfp4));
  Tensor data{DType::float4_e2m1fn, {48}, Words(48, 0)};
  data.codes[0] = 7;
  data.codes[1] = 0xC;  // -1000 / 448 is nearest to -2
  data.codes[16] = 7;
  CHECK((got.file == file_of({data, Tensor{DType::float8_e4m3fn, {3}, {0x7E, 0x38, 0}},
                              scale_tensor({}, {1})})));
  CHECK(got.reports[0].scales == std::vector<double>{1});
  CHECK(got.reports[0].loss.to_zero == 2);
  CHECK(got.reports[0].loss.inexact == 1);
}

// There and back

TEST_CASE("half a step: quantised and dequantised, per type") {
  for (const DType to : small_types()) {
    Tensor tensor = random_tensor(DType::float32, {50, 40}, 11);
    // Without a zero point codes without a sign take no numbers below 0.
    if (btf::info(to).kind == btf::NumberKind::unsigned_integer)
      for (std::uint64_t& code : tensor.codes) code &= 0x7FFFFFFF;
    const Converted codes = converted(file_of({tensor}), quantizing(to));
    const Converted back = converted(codes.file, dequantizing(DType::float64));
    REQUIRE(back.reports.size() == 1);
    // A product of a code and 24 bits of the scale may be rounded once again, to float64.
    const bool is_long = bits_of(to) >= 32;
    CHECK((is_long || back.reports[0].loss.changed() == 0));
    const long double scale = codes.reports[0].scales[0];
    const btf::test::Magnitudes magnitudes(btf::test::is_float(to) ? to : DType::float64);
    const auto half_step = [&](long double x) -> long double {
      if (!btf::test::is_float(to)) return scale / 2;
      std::uint64_t code = 0;
      while (code < magnitudes.largest() && magnitudes.value(code + 1) * scale <= x) ++code;
      return (magnitudes.value(code + 1) - magnitudes.value(code)) / 2 * scale;
    };
    const long double infinity = oracle_value(to, float_code(to, INFINITY));
    const long double top =
        std::isinf(infinity) ? magnitudes.value(magnitudes.largest()) : infinity;
    std::uint64_t in_range = 0;
    std::uint64_t wrong = 0;
    Words numbers(tensor.codes.size());
    const Bytes only_back = back.file;
    std::memcpy(numbers.data(), only_back.data() + only_back.size() - 8 * numbers.size(),
                8 * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const long double x = oracle_value(DType::float32, tensor.codes[i]);
      if (std::abs(x) > top * scale) continue;
      ++in_range;
      const long double y = oracle_value(DType::float64, numbers[i]);
      const long double more = is_long ? std::abs(y) * 0x1p-53L : 0;
      wrong += std::abs(x - y) <= half_step(std::abs(x)) + more ? 0 : 1;
    }
    CAPTURE(name_of(to));
    CHECK(wrong == 0);
    CHECK(in_range + 10 > 2000U);
  }
}

TEST_CASE("half a step: blocks") {
  const Tensor tensor = random_tensor(DType::float32, {30, 75}, 12);
  for (const BlockRule& rule : kBlockRules) {
    const Blocks expected = expected_blocks(rule, tensor);
    const Converted codes = converted(file_of({tensor}), in_blocks(rule.format, rule.element));
    const Converted back = converted(codes.file, dequantizing(DType::float64));
    CHECK(back.reports.at(0).loss.changed() == 0);
    Words numbers(tensor.codes.size());
    std::memcpy(numbers.data(), back.file.data() + back.file.size() - 8 * numbers.size(),
                8 * numbers.size());
    const btf::test::Magnitudes magnitudes(rule.element);
    const std::uint64_t blocks = (75 + rule.block - 1) / rule.block;
    std::uint64_t in_range = 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint64_t scale_code = expected.scales.codes[i / 75 * blocks + i % 75 / rule.block];
      const long double scale = oracle_value(scale_type(rule), scale_code) * expected.tensor_scale;
      const long double x = oracle_value(DType::float32, tensor.codes[i]);
      const long double size = std::abs(x);
      if (size > magnitudes.value(magnitudes.largest()) * scale) continue;
      ++in_range;
      std::uint64_t code = 0;
      while (code < magnitudes.largest() && magnitudes.value(code + 1) * scale <= size) ++code;
      const long double half = (magnitudes.value(code + 1) - magnitudes.value(code)) / 2 * scale;
      wrong += std::abs(x - oracle_value(DType::float64, numbers[i])) <= half ? 0 : 1;
    }
    CAPTURE(name_of(rule.element), static_cast<int>(rule.format));
    CHECK(wrong == 0);
    CHECK(in_range > 2100);
  }
}
