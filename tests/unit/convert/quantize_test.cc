#include "btf/quantize.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "btf/convert.h"
#include "kernels/scale/scaled_runs.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/quantize_oracle.h"
#include "support/random_tensor.h"
#include "support/said.h"

using btf::BlockFormat;
using btf::CastPolicy;
using btf::ConvertOptions;
using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::LossAccount;
using btf::Number;
using btf::Overflow;
using btf::Quantization;
using btf::Rounding;
using btf::ScaleDirection;
using btf::test::Exact;
using btf::test::float_code;
using btf::test::Loss;
using btf::test::oracle_dequantize;
using btf::test::oracle_quantize;
using btf::test::oracle_value;
using btf::test::OracleCast;
using btf::test::OracleFit;
using btf::test::Wide;
using bytes::Bytes;
using bytes::Words;

namespace {

const std::vector<DType> kIntegers{DType::int4,   DType::int8,  DType::int16, DType::int32,
                                   DType::int64,  DType::uint4, DType::uint8, DType::uint16,
                                   DType::uint32, DType::uint64};
const std::vector<DType> kSmallFloats{
    DType::float8_e4m3fn,   DType::float8_e5m2, DType::float4_e2m1fn, DType::float8_e4m3fnuz,
    DType::float8_e5m2fnuz, DType::float8_e3m4, DType::float8_e4m3,   DType::float8_e4m3b11fnuz};
const std::vector<DType> kLargeFloats{DType::float16, DType::bfloat16, DType::float32,
                                      DType::float64};

// Short ones, long ones, those that float32 holds, powers of two, and both ends of float32.
const std::vector<double> kScales{1.0,           0.5,      0.1,   0.1F,    3.0,           1.0 / 3,
                                  0x1.6a09e6p-9, 0x1p-149, 1e-40, 6.25e30, 0x1.fffffep127};

std::vector<DType> small_types() {
  std::vector<DType> all = kIntegers;
  all.insert(all.end(), kSmallFloats.begin(), kSmallFloats.end());
  return all;
}

std::vector<DType> all_types() {
  std::vector<DType> all;
  for (const btf::DTypeInfo& row : btf::dtypes()) all.push_back(row.dtype);
  return all;
}

unsigned bits_of(DType dtype) { return btf::info(dtype).bits; }
std::string name_of(DType dtype) { return std::string(btf::info(dtype).name); }

std::uint64_t all_ones(unsigned bits) { return bits == 64 ? ~0ULL : (1ULL << bits) - 1; }

std::uint64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

// The codes next to that of `value`, and of its opposite.
void add_around(DType dtype, long double value, Words& codes) {
  for (const double side : {1.0, -1.0}) {
    const std::uint64_t code = float_code(dtype, side * static_cast<double>(value));
    for (std::uint64_t step : {0U, 1U, 2U}) {
      codes.push_back((code + step) & all_ones(bits_of(dtype)));
      codes.push_back((code - step) & all_ones(bits_of(dtype)));
    }
  }
}

// Every code of a small type, or every `stride`th; of a large one what is special to the type, to
// `target`, or to the scale.
Words source_codes(DType from, DType target, double scale, std::uint64_t stride) {
  Words codes;
  if (bits_of(from) <= 16) {
    for (std::uint64_t code = 0; code < 1ULL << bits_of(from);
         code += bits_of(from) < 16 ? 1 : stride)
      codes.push_back(code);
    return codes;
  }
  for (const double value : {0.0, 1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    add_around(from, value, codes);
  for (int exponent = -1074; exponent < 1024; exponent += exponent < -80 || exponent > 80 ? 61 : 1)
    add_around(from, std::ldexp(1.0L, exponent), codes);
  // What the type holds next to the ties.
  if (btf::test::is_float(target) && bits_of(target) <= 8) {
    const btf::test::Magnitudes magnitudes(target);
    for (std::uint64_t code = 0; code <= magnitudes.largest(); ++code)
      add_around(from, (magnitudes.value(code) + magnitudes.value(code + 1)) / 2 * scale, codes);
  } else {
    for (int i = 0; i < 12; ++i) add_around(from, (i + 0.5L) * scale, codes);
    for (int exponent = 3; exponent < 66; ++exponent)
      for (const long double off : {-1.5L, -0.5L, 0.5L})
        add_around(from, (std::ldexp(1.0L, exponent) + off) * scale, codes);
  }
  Random random(bits_of(from) + bits_of(target));
  for (int i = 0; i < 300; ++i) codes.push_back(random.next() & all_ones(bits_of(from)));
  return codes;
}

struct Outcome {
  Words codes;
  LossAccount account;
};

Outcome run(ScaleDirection direction, const btf::ScaledCast& cast, const Words& codes,
            double scale) {
  const std::uint64_t to_bytes = btf::info(cast.to).buffer_bytes();
  const Bytes source = bytes::pack(bits_of(cast.from) < 8 ? 8 : bits_of(cast.from), codes);
  Bytes target(codes.size() * to_bytes);
  Outcome outcome;
  btf::ScaledRuns(cast, direction)
      .run(scale, cast.zero_point, {source.data(), target.data(), codes.size()}, outcome.account);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, target.data() + i * to_bytes, to_bytes);
    outcome.codes.push_back(code);
  }
  return outcome;
}

void count(Loss loss, LossAccount& account) {
  ++account.elements;
  account.overflowed += loss == Loss::overflowed ? 1 : 0;
  account.nan_lost += loss == Loss::nan_lost ? 1 : 0;
  account.to_zero += loss == Loss::to_zero ? 1 : 0;
  account.inexact += loss == Loss::inexact ? 1 : 0;
}

// Compares all codes, and the account, and names the first that differs.
template <typename Oracle>
void check(const Outcome& got, DType from, const Words& codes, const Oracle& oracle) {
  LossAccount expected;
  std::uint64_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const OracleCast one = oracle(codes[i]);
    count(one.loss, expected);
    expected.nan += std::isnan(oracle_value(from, codes[i])) ? 1 : 0;
    if (one.code == got.codes[i] || wrong++ != 0) continue;
    first = "code " + std::to_string(codes[i]) + " gives " + std::to_string(got.codes[i]) +
            ", not " + std::to_string(one.code);
  }
  CAPTURE(first);
  CHECK(wrong == 0);
  CHECK(got.account.elements == expected.elements);
  CHECK(got.account.overflowed == expected.overflowed);
  CHECK(got.account.nan_lost == expected.nan_lost);
  CHECK(got.account.to_zero == expected.to_zero);
  CHECK(got.account.inexact == expected.inexact);
  CHECK(got.account.nan == expected.nan);
}

// The largest errors, as far as long double can tell: not for codes of 64 bits.
void check_errors(const btf::ScaledCast& cast, const Outcome& got, const Words& codes,
                  double scale) {
  if (bits_of(cast.to) > 32) return;
  long double max_abs = 0;
  long double max_rel = 0;
  long double largest = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const long double x = oracle_value(cast.from, codes[i]);
    const long double back =
        (oracle_value(cast.to, got.codes[i]) - static_cast<long double>(cast.zero_point)) * scale;
    if (!std::isfinite(x) || !std::isfinite(back) || x == back) continue;
    largest = std::max(largest, std::abs(x));
    max_abs = std::max(max_abs, std::abs(x - back));
    max_rel = std::max(max_rel, std::abs(x - back) / std::abs(x));
  }
  const auto close_to = [](long double value, long double size) {
    return Approx(static_cast<double>(value))
        .epsilon(1e-6)
        .margin(static_cast<double>(size) * 1e-15);
  };
  CHECK(got.account.max_abs == close_to(max_abs, largest));
  CHECK(got.account.max_rel == close_to(max_rel, 1));
}

void check_quantize(const btf::ScaledCast& cast, const Words& codes, double scale) {
  CAPTURE(name_of(cast.from), name_of(cast.to), scale, cast.zero_point);
  const Outcome got = run(ScaleDirection::quantize, cast, codes, scale);
  check(got, cast.from, codes, [&](std::uint64_t code) {
    return oracle_quantize(cast.from, cast.to, code, scale, cast.zero_point, cast.policy);
  });
  check_errors(cast, got, codes, scale);
}

void check_dequantize(const btf::ScaledCast& cast, const Words& codes, double scale) {
  CAPTURE(name_of(cast.from), name_of(cast.to), scale, cast.zero_point);
  check(run(ScaleDirection::dequantize, cast, codes, scale), cast.from, codes,
        [&](std::uint64_t code) {
          return oracle_dequantize(cast.from, cast.to, code, scale, cast.zero_point);
        });
}

// What a zero point can be for a type: both ends, their neighbours, and something between.
std::vector<std::int64_t> zero_points(DType dtype) {
  const btf::test::IntegerLimits limits(dtype);
  const auto least = static_cast<std::int64_t>(limits.least);
  const auto largest =
      static_cast<std::int64_t>(std::min<btf::test::SignedWide>(limits.largest, INT64_MAX));
  return {least, least + 1, least / 2 + largest / 2, 3, largest - 1, largest};
}

// Files

struct Tensor {
  DType dtype{};
  Dims dims;
  Words codes;
};

Tensor tensor_of(DType dtype, Dims dims, const std::vector<double>& values) {
  Words codes;
  for (const double value : values) codes.push_back(float_code(dtype, value));
  return {dtype, std::move(dims), std::move(codes)};
}

// Values of all sizes, with a zero here and there.
Tensor random_tensor(DType dtype, const Dims& dims, std::uint64_t seed) {
  Random random(seed);
  Tensor tensor{dtype, dims, {}};
  for (std::uint64_t i = 0; i < count_of(dims); ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random.below(16)) - 8);
    const double value = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1;
    tensor.codes.push_back(random.below(9) == 0 ? 0 : float_code(dtype, value * size));
  }
  return tensor;
}

Bytes record(const Tensor& tensor) {
  return bytes::dense(tensor.dtype, Layout::linear, tensor.dims,
                      bytes::pack(bits_of(tensor.dtype), tensor.codes));
}

Bytes file_of(const std::vector<Tensor>& tensors) {
  std::vector<Bytes> records;
  for (const Tensor& tensor : tensors) records.push_back(record(tensor));
  return bytes::file(std::move(records));
}

struct Converted {
  std::optional<btf::Error> error;
  Bytes file;
  std::vector<btf::TensorReport> reports;
};

Converted try_convert(const Bytes& input, const ConvertOptions& options) {
  const ScratchDir scratch;
  const btf::TensorFile file = bytes::open(bytes::save(scratch, "in", input));
  Converted result;
  const auto size = btf::convert(file, scratch / "out", options, [&](const btf::TensorReport& one) {
    result.reports.push_back(one);
  });
  if (size)
    result.file = read_file(scratch / "out");
  else
    result.error = size.error();
  CHECK(scratch.names().size() == (size ? 2 : 1));
  return result;
}

Converted converted(const Bytes& input, const ConvertOptions& options) {
  Converted result = try_convert(input, options);
  INFO((result.error ? result.error->text() : ""));
  REQUIRE(!result.error);
  return result;
}

std::string refusal(const Bytes& input, const ConvertOptions& options) {
  const Converted result = try_convert(input, options);
  REQUIRE(result.error);
  return said(*result.error);
}

Bytes only(const Bytes& input, std::uint64_t index) {
  return converted(input, {.tensors = Words{index}}).file;
}

ConvertOptions quantizing(DType dtype, std::optional<std::uint32_t> axis = {}) {
  return {.dtype = dtype, .quantization = {.automatic = true, .axis = axis}};
}

ConvertOptions in_blocks(BlockFormat format, std::optional<DType> dtype = {}) {
  return {.dtype = dtype, .quantization = {.block = format}};
}

ConvertOptions dequantizing(DType dtype) {
  return {.dtype = dtype, .quantization = {.dequantize = true}};
}

long double largest_of(const Tensor& tensor) {
  long double largest = 0;
  for (const std::uint64_t code : tensor.codes) {
    const long double x = oracle_value(tensor.dtype, code);
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

float scale_for(long double largest, long double representable) {
  return largest == 0 ? 1 : static_cast<float>(static_cast<double>(largest / representable));
}

Tensor quantized(const Tensor& tensor, DType to, long double scale) {
  Tensor result{to, tensor.dims, {}};
  for (const std::uint64_t code : tensor.codes)
    result.codes.push_back(oracle_quantize(tensor.dtype, to, code, scale).code);
  return result;
}

Tensor scale_tensor(const Dims& dims, const std::vector<float>& scales) {
  Tensor tensor{DType::float32, dims, {}};
  for (const float scale : scales) tensor.codes.push_back(std::bit_cast<std::uint32_t>(scale));
  return tensor;
}

struct BlockRule {
  BlockFormat format{};
  DType element{};
  std::uint64_t block = 0;
  int emax = 0;  // MX: exponent of the element's largest number
};

const std::vector<BlockRule> kBlockRules{
    {BlockFormat::mxfp8, DType::float8_e4m3fn, 32, 8},
    {BlockFormat::mxfp8, DType::float8_e5m2, 32, 15},
    {BlockFormat::mxfp4, DType::float4_e2m1fn, 32, 2},
    {BlockFormat::nvfp4, DType::float4_e2m1fn, 16, 0},
};

bool is_nvfp4(const BlockRule& rule) { return rule.format == BlockFormat::nvfp4; }

struct Blocks {
  Tensor data;
  Tensor scales;
  float tensor_scale = 1;

  std::vector<Tensor> records(const BlockRule& rule) const {
    std::vector<Tensor> all{data, scales};
    if (is_nvfp4(rule)) all.push_back(scale_tensor({}, {tensor_scale}));
    return all;
  }
};

std::uint64_t expected_scale(const BlockRule& rule, long double largest, float tensor_scale) {
  if (is_nvfp4(rule))
    return btf::test::quantize_to_float(DType::float8_e4m3fn, largest, 6.0L * tensor_scale, {})
        .code;
  if (largest == 0) return 0;
  return static_cast<std::uint64_t>(std::clamp(std::ilogb(largest) - rule.emax, -127, 127) + 127);
}

// Of the scale codes of a format.
DType scale_type(const BlockRule& rule) {
  return is_nvfp4(rule) ? DType::float8_e4m3fn : DType::float8_e8m0fnu;
}

Blocks expected_blocks(const BlockRule& rule, const Tensor& tensor) {
  Dims scale_dims = tensor.dims;
  scale_dims.back() = (tensor.dims.back() + rule.block - 1) / rule.block;
  Blocks blocks{{rule.element, tensor.dims, {}}, {scale_type(rule), scale_dims, {}}};
  if (is_nvfp4(rule)) blocks.tensor_scale = scale_for(largest_of(tensor), 2688);
  const std::uint64_t row = tensor.dims.back();
  for (std::uint64_t at = 0; at < tensor.codes.size();) {
    const std::uint64_t n = std::min(rule.block, row - at % row);
    const auto begin = tensor.codes.begin() + static_cast<std::ptrdiff_t>(at);
    const Tensor block{tensor.dtype, {n}, {begin, begin + static_cast<std::ptrdiff_t>(n)}};
    const std::uint64_t code = expected_scale(rule, largest_of(block), blocks.tensor_scale);
    const long double scale = oracle_value(scale_type(rule), code) * blocks.tensor_scale;
    const Tensor result = quantized(block, rule.element, scale);
    blocks.scales.codes.push_back(code);
    blocks.data.codes.insert(blocks.data.codes.end(), result.codes.begin(), result.codes.end());
    at += n;
  }
  return blocks;
}

Number random_number(Random& random) {
  Number x;
  x.kind = Number::Class::finite;
  x.significand = random.next() | btf::number::kTopBit;
  // Short ones too, and all ones.
  const std::uint64_t kind = random.below(4);
  if (kind == 0) x.significand &= ~0ULL << random.below(64);
  if (kind == 1) x.significand |= all_ones(static_cast<unsigned>(random.below(64)));
  x.significand |= btf::number::kTopBit;
  x.exponent = static_cast<int>(random.below(2200)) - 1100;
  x.negative = random.below(2) != 0;
  return x;
}

Exact exact(const Number& x) { return {x.significand, x.exponent - 63}; }

}  // namespace

// Arithmetic

// A result that is not exact ends in a set bit and lies next to the exact one, so that rounding it
// to fewer bits rounds the exact one.
TEST_CASE("scaled numbers: quotients and products keep what rounding needs") {
  Random random(1);
  int exact_quotients = 0;
  for (int i = 0; i < 300'000; ++i) {
    const Number a = random_number(random);
    const Number b = random_number(random);
    const Number quotient = btf::number::quotient(a, b);
    const Number product = btf::number::product(a, b);
    bool good = quotient.significand >> 63 == 1 && product.significand >> 63 == 1 &&
                quotient.negative == (a.negative != b.negative) &&
                product.negative == (a.negative != b.negative);
    const auto between = [](const Number& x, const auto& order) {
      if (order(exact(x)) == 0) return true;
      const Exact below{x.significand - 1, x.exponent - 63};
      const Exact above{Wide{x.significand} + 1, x.exponent - 63};
      return x.significand % 2 == 1 && order(below) < 0 && order(above) > 0;
    };
    // q against a / b, without a quotient.
    const auto by_quotient = [&](const Exact& q) { return q * exact(b) <=> exact(a); };
    const Exact whole{Wide{a.significand} * b.significand, a.exponent + b.exponent - 126};
    good = good && between(quotient, by_quotient) &&
           between(product, [&](const Exact& p) { return p <=> whole; });
    exact_quotients += by_quotient(exact(quotient)) == 0 ? 1 : 0;
    if (good) continue;
    CAPTURE(i, a.significand, a.exponent, b.significand, b.exponent, quotient.significand,
            quotient.exponent, product.significand, product.exponent);
    REQUIRE(good);
  }
  CHECK(exact_quotients > 1000);
}

TEST_CASE("scaled numbers: zero, Inf and NaN") {
  using enum Number::Class;
  const Number one{btf::number::kTopBit, 0, false, finite};
  const auto kind = [&](Number::Class a, Number::Class b, bool divide) {
    const Number x = a == finite ? one : Number{0, 0, true, a};
    const Number y = b == finite ? one : Number{0, 0, false, b};
    const Number result = divide ? btf::number::quotient(x, y) : btf::number::product(x, y);
    CHECK(result.negative == (a != finite));
    return result.kind;
  };
  for (const Number::Class a : {zero, infinite, nan}) {
    CHECK(kind(a, finite, true) == a);
    CHECK(kind(a, finite, false) == a);
    CHECK(kind(a, nan, false) == nan);
  }
  CHECK(kind(finite, zero, true) == zero);
  CHECK(kind(finite, zero, false) == zero);
  CHECK(kind(finite, nan, false) == nan);
}

// Runs

TEST_CASE("quantise: every small type from every type, by the definition") {
  for (const DType from : all_types()) {
    for (const DType to : small_types()) {
      const bool in_full = to == DType::int8 || to == DType::float8_e4m3fn;
      for (const double scale : kScales) {
        const std::uint64_t stride = in_full && scale == 0.1 ? 1 : 97;
        check_quantize({from, to, {}, 0}, source_codes(from, to, scale, stride), scale);
      }
    }
  }
}

TEST_CASE("quantise: zero points up to both limits") {
  for (const DType from : {DType::float32, DType::float64, DType::int64, DType::uint64,
                           DType::bfloat16, DType::uint8}) {
    for (const DType to : kIntegers)
      for (const std::int64_t zero : zero_points(to))
        for (const double scale : {0.1, 1.0, 2.5, static_cast<double>(0.1F)})
          check_quantize({from, to, {}, zero}, source_codes(from, to, scale, 997), scale);
  }
}

// A scale of 24 bits is what --scale auto makes, and the way for it need not be that for others.
TEST_CASE("quantise: float32 with any scale of float32") {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const auto exponent =
        static_cast<std::uint32_t>(i < 20 ? random.below(255) : random.between(100, 140));
    const auto code = exponent << 23 | static_cast<std::uint32_t>(random.below(1U << 23));
    const double scale = std::bit_cast<float>(code == 0 ? 1 : code);
    for (const DType to :
         {DType::int4, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32})
      for (const std::int64_t zero : {0, 7})
        check_quantize({DType::float32, to, {}, zero}, source_codes(DType::float32, to, scale, 1),
                       scale);
  }
}

TEST_CASE("quantise: the other roundings, for integers") {
  for (const Rounding rounding : {Rounding::nearest, Rounding::zero, Rounding::up, Rounding::down})
    for (const DType to : {DType::int4, DType::uint8, DType::int64})
      for (const std::int64_t zero : {0, 3})
        for (const double scale : {0.1, 1.0, 3.0}) {
          CastPolicy policy;
          policy.rounding = rounding;
          CAPTURE(static_cast<int>(rounding));
          check_quantize({DType::float32, to, policy, zero},
                         source_codes(DType::float32, to, scale, 1), scale);
        }
}

TEST_CASE("quantise: with ieee small floats do not saturate") {
  for (const DType to :
       {DType::float8_e4m3fn, DType::float8_e5m2, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz,
        DType::float8_e3m4, DType::float8_e4m3, DType::float8_e4m3b11fnuz}) {
    CastPolicy policy;
    policy.overflow = Overflow::ieee;
    check_quantize({DType::float32, to, policy, 0}, source_codes(DType::float32, to, 0.1, 1), 0.1);
  }
}

TEST_CASE("quantise: a scale of 0 stands for a block of zeros") {
  for (const DType to : kSmallFloats) {
    const Outcome got = run(ScaleDirection::quantize, {DType::float32, to, {}, 0},
                            {0x00000000, 0x3F800000, 0x80000000}, 0);
    CHECK(got.codes == Words{0, 0, float_code(to, -0.0)});
    CHECK(got.account.to_zero == 1);
    CHECK(got.account.changed() == 1);
  }
}

TEST_CASE("quantise: the largest errors") {
  // 0.3 / 0.25 -> 1, 100 -> 127, 0.1 -> 0, -1 exact; NaN and Inf have no part in it.
  Words codes;
  for (const double x :
       {0.3, 100.0, 0.1, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    codes.push_back(float_code(DType::float64, x));
  const Outcome got =
      run(ScaleDirection::quantize, {DType::float64, DType::int8, {}, 0}, codes, 0.25);
  CHECK(got.codes == Words{1, 127, 0, 0xFC, 0, 127});
  CHECK(got.account.max_abs == 100 - 31.75);
  CHECK(got.account.max_rel == 1);
  CHECK(got.account.overflowed == 2);
  CHECK(got.account.to_zero == 1);
  CHECK(got.account.inexact == 1);
  CHECK(got.account.nan_lost == 1);
}

TEST_CASE("dequantise: every small type to every large float, by the definition") {
  for (const DType from : small_types()) {
    for (const DType to : kLargeFloats) {
      for (const double scale : kScales)
        check_dequantize({from, to, {}, 0}, source_codes(from, DType::int64, 1, 331), scale);
      if (btf::test::is_float(from)) continue;
      for (const std::int64_t zero : zero_points(from))
        check_dequantize({from, to, {}, zero}, source_codes(from, DType::int64, 1, 997), 0.1);
    }
  }
}

TEST_CASE("dequantise: a NaN as a scale") {
  const Outcome got = run(ScaleDirection::dequantize, {DType::float8_e5m2, DType::float32, {}, 0},
                          {0x00, 0x3C, 0x7C, 0x7F}, NAN);
  for (const std::uint64_t code : got.codes) CHECK(std::isnan(oracle_value(DType::float32, code)));
}

// Files: the scale of a tensor

TEST_CASE("scale: the direction follows from the dtypes") {
  const Tensor numbers = tensor_of(DType::float32, {5}, {-3, -0.25, 0, 0.25, 50});
  const Quantization half{.scale = 0.5};
  const Bytes codes = file_of({quantized(numbers, DType::int8, 0.5)});
  CHECK(
      (converted(file_of({numbers}), {.dtype = DType::int8, .quantization = half}).file == codes));
  const Tensor back = tensor_of(DType::float16, {5}, {-3, 0, 0, 0, 50});
  CHECK(
      (converted(codes, {.dtype = DType::float16, .quantization = half}).file == file_of({back})));
  // Both are small: it quantises.
  CHECK((converted(codes, {.dtype = DType::int16, .quantization = half}).file ==
         file_of({quantized(quantized(numbers, DType::int8, 0.5), DType::int16, 0.5)})));
}

TEST_CASE("scale: a zero point there and back") {
  const Tensor numbers = tensor_of(DType::float32, {6}, {-1, -0.5, 0, 0.5, 1, NAN});
  const Quantization given{.scale = 0.0078125, .zero_point = 128};
  const Converted codes =
      converted(file_of({numbers}), {.dtype = DType::uint8, .quantization = given});
  CHECK((codes.file == file_of({Tensor{DType::uint8, {6}, {0, 64, 128, 192, 255, 128}}})));
  REQUIRE(codes.reports.size() == 1);
  CHECK(codes.reports[0].loss.overflowed == 1);
  CHECK(codes.reports[0].loss.nan_lost == 1);
  CHECK(codes.reports[0].scales == std::vector<double>{0.0078125});
  CHECK(codes.reports[0].scale_targets.empty());
  CHECK((converted(codes.file, {.dtype = DType::float32, .quantization = given}).file ==
         file_of({tensor_of(DType::float32, {6}, {-1, -0.5, 0, 0.5, 0.9921875, 0})})));
}

TEST_CASE("scale auto: per tensor, scales behind the data, record by record") {
  const Tensor first = random_tensor(DType::float32, {3, 40}, 1);
  const Tensor second = random_tensor(DType::float64, {7}, 2);
  const Tensor third = random_tensor(DType::bfloat16, {}, 3);
  for (const DType to : small_types()) {
    // Those have a fit of their own.
    if (btf::info(to).kind == btf::NumberKind::unsigned_integer) continue;
    CAPTURE(name_of(to));
    const long double top = oracle_value(to, float_code(to, INFINITY));
    const long double representable =
        std::isinf(top) ? oracle_value(to, float_code(to, INFINITY) - 1) : top;
    std::vector<Tensor> expected;
    for (const Tensor& tensor : {first, second, third}) {
      const float scale = scale_for(largest_of(tensor), representable);
      expected.push_back(quantized(tensor, to, scale));
      expected.push_back(scale_tensor({}, {scale}));
    }
    const Converted got = converted(file_of({first, second, third}), quantizing(to));
    CHECK((got.file == file_of(expected)));
    REQUIRE(got.reports.size() == 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(got.reports[i].source == i);
      CHECK(got.reports[i].target == 2 * i);
      CHECK(got.reports[i].scale_targets == Words{2 * i + 1});
      CHECK(got.reports[i].scales.size() == 1);
    }
  }
}

namespace {

// The ends of the finite elements and 0.
std::pair<long double, long double> ends_of(const Tensor& tensor) {
  long double least = 0;
  long double largest = 0;
  for (const std::uint64_t code : tensor.codes) {
    const long double x = oracle_value(tensor.dtype, code);
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
  return {least, largest};
}

// Codes, scales and zero points as they must stand in the file.
std::vector<Tensor> fitted(const Tensor& tensor, DType to, const std::vector<OracleFit>& fits,
                           std::uint64_t inner, const Dims& scale_dims, bool with_zero_points) {
  const btf::test::IntegerLimits limits(to);
  Tensor codes{to, tensor.dims, {}};
  Tensor zeros{to, scale_dims, {}};
  std::vector<float> scales;
  for (const OracleFit& fit : fits) {
    scales.push_back(fit.scale);
    zeros.codes.push_back(static_cast<std::uint64_t>(fit.zero_point) & limits.mask);
  }
  for (std::size_t i = 0; i < tensor.codes.size(); ++i) {
    const OracleFit& fit = fits[i / inner % fits.size()];
    codes.codes.push_back(
        oracle_quantize(tensor.dtype, to, tensor.codes[i], fit.scale, fit.zero_point).code);
  }
  std::vector<Tensor> all{codes, scale_tensor(scale_dims, scales)};
  if (with_zero_points) all.push_back(zeros);
  return all;
}

}  // namespace

TEST_CASE("scale auto: with a zero point, given or found, both ends get codes") {
  std::uint64_t refused = 0;
  std::uint64_t seed = 100;
  for (const DType to : small_types()) {
    if (btf::test::is_float(to)) continue;
    const btf::test::IntegerLimits limits(to);
    std::vector<std::optional<std::int64_t>> zeros{std::nullopt, 0};
    for (const std::int64_t zero : zero_points(to)) zeros.emplace_back(zero);
    for (const DType from : {DType::float32, DType::float64, DType::float16, DType::int16}) {
      for (int shift = -1; shift <= 1; ++shift) {
        // Of both signs, and of one only.
        Tensor tensor = random_tensor(from, {50}, ++seed);
        for (std::uint64_t& code : tensor.codes) {
          const auto x = static_cast<double>(oracle_value(from, code));
          // Of 24 bits, so that the difference of two is exact.
          const double y = static_cast<float>(shift == 0 ? x : shift * std::abs(x));
          code = float_code(from, from == DType::int16 ? y * 1000 : y);
        }
        if (from != DType::int16) tensor.codes[7] = float_code(from, -INFINITY);
        const auto [least, largest] = ends_of(tensor);
        for (const auto& zero : zeros) {
          if (!zero && bits_of(to) > 32) continue;
          // Signed and without a zero point it is symmetric.
          if (zero == 0 && limits.least < 0) continue;
          CAPTURE(name_of(to), name_of(from), shift, zero.value_or(-777));
          ConvertOptions options = quantizing(to);
          options.quantization.find_zero_point = !zero;
          options.quantization.zero_point = zero;
          const auto fit = btf::test::oracle_fit(to, least, largest, zero);
          const Converted got = try_convert(file_of({tensor}), options);
          REQUIRE(got.error.has_value() == !fit.has_value());
          if (!fit) {
            CHECK_THAT(got.error->message, Catch::Contains("do not fit"));
            ++refused;
            continue;
          }
          CHECK((got.file == file_of(fitted(tensor, to, {*fit}, 1, {}, !zero))));
          REQUIRE(got.reports.size() == 1);
          CHECK(got.reports[0].scales == std::vector<double>{fit->scale});
          CHECK(got.reports[0].loss.overflowed == (from != DType::int16 ? 1 : 0));  // the Inf
          if (zero) continue;
          CHECK(got.reports[0].zero_points == std::vector<std::int64_t>{fit->zero_point});
          ConvertOptions back = dequantizing(DType::float64);
          back.quantization.find_zero_point = true;
          ConvertOptions by_hand = dequantizing(DType::float64);
          by_hand.quantization.zero_point = fit->zero_point;
          by_hand.tensors = Words{0, 1};
          const Bytes numbers = converted(got.file, back).file;
          CHECK((numbers == converted(got.file, by_hand).file));
        }
      }
    }
  }
  CHECK(refused > 20);
}

TEST_CASE("scale auto: a zero point for each index of a dim") {
  for (const DType to : {DType::uint8, DType::int8, DType::uint4, DType::int4}) {
    const Tensor tensor = random_tensor(DType::float32, {4, 5, 3}, 77);
    std::vector<OracleFit> fits;
    for (std::uint64_t c = 0; c < 5; ++c) {
      Tensor channel{DType::float32, {}, {}};
      for (std::size_t i = 0; i < tensor.codes.size(); ++i)
        if (i / 3 % 5 == c) channel.codes.push_back(tensor.codes[i]);
      const auto [least, largest] = ends_of(channel);
      fits.push_back(btf::test::oracle_fit(to, least, largest, std::nullopt).value());
    }
    ConvertOptions options = quantizing(to, 1);
    options.quantization.find_zero_point = true;
    const Converted got = converted(file_of({tensor}), options);
    CHECK((got.file == file_of(fitted(tensor, to, fits, 3, {1, 5, 1}, true))));
    CHECK(got.reports[0].loss.overflowed == 0);
    CHECK(got.reports[0].scale_targets == Words{1, 2});
    ConvertOptions back = dequantizing(DType::float32);
    back.quantization.find_zero_point = true;
    const Converted numbers = converted(got.file, back);
    REQUIRE(numbers.reports.size() == 1);
    CHECK(numbers.reports[0].zero_points.size() == 5);
  }
}

TEST_CASE("scale auto: ties at both ends take the next scale") {
  // 255 steps of 1 from -1.5: both ends are ties, and round out.
  const Tensor tensor = tensor_of(DType::float32, {2}, {-1.5, 253.5});
  ConvertOptions options = quantizing(DType::uint8);
  options.quantization.find_zero_point = true;
  const Converted got = converted(file_of({tensor}), options);
  CHECK(got.reports[0].scales == std::vector<double>{std::nextafter(1.0F, 2.0F)});
  CHECK(got.reports[0].loss.overflowed == 0);
}

TEST_CASE("scale auto: more scales than the memory holds are refused") {
  const Tensor tensor = tensor_of(DType::float32, {60'000, 1}, std::vector<double>(60'000, 0.5));
  ConvertOptions options = quantizing(DType::int8, 0);
  const Bytes codes = converted(file_of({tensor}), options).file;
  options.execution.memory = 1;
  CHECK(
      refusal(file_of({tensor}), options) ==
      "tensor 0: a scale for each of 60000 indices needs more memory than the limit leaves, which "
      "is enough for 52428");
  ConvertOptions back = dequantizing(DType::float32);
  back.execution.memory = 1;
  CHECK_THAT(refusal(codes, back), Catch::Contains("a scale for each of 60000 indices"));
}

TEST_CASE("scale auto: zeros, NaN and Inf, and both ends of float32") {
  const auto scale_of = [](const Tensor& tensor, DType to) {
    return converted(file_of({tensor}), quantizing(to)).reports.at(0).scales.at(0);
  };
  CHECK(scale_of(tensor_of(DType::float32, {3}, {0, -0.0, 0}), DType::int8) == 1);
  CHECK(scale_of(tensor_of(DType::float32, {2}, {NAN, INFINITY}), DType::int8) == 1);
  CHECK(scale_of(tensor_of(DType::float32, {3}, {NAN, -INFINITY, -254}), DType::int8) == 2);
  CHECK(scale_of(tensor_of(DType::float64, {1}, {1e300}), DType::int8) == 0x1.fffffep127);
  CHECK(scale_of(tensor_of(DType::float64, {1}, {-1e-300}), DType::int8) == 0x1p-149);
  // 10 * 2^-149 / 127 rounds to no float32 but 0.
  const Tensor least{DType::float32, {3}, {10, 3, 0x80000007}};
  CHECK((converted(file_of({least}), quantizing(DType::int8)).file ==
         file_of({Tensor{DType::int8, {3}, {10, 3, 0xF9}}, scale_tensor({}, {0x1p-149F})})));
}

TEST_CASE("scale auto: per channel, on every axis") {
  // Kernels take 512 elements at a time: channels begin and end anywhere there.
  const Dims dims =
      GENERATE(Dims{3, 4, 2, 5}, Dims{3, 11, 7, 13}, Dims{2, 1, 3, 1100}, Dims{2, 3, 301, 1});
  CAPTURE(dims);
  Tensor tensor = random_tensor(DType::float32, dims, 5);
  const std::uint64_t of_first = count_of(dims) / dims[0];
  for (std::size_t i = 0; i < of_first; ++i) tensor.codes[i] = 0;  // all of index 0 of dim 0
  for (std::uint32_t axis = 0; axis < 4; ++axis) {
    CAPTURE(axis);
    Dims scale_dims(4, 1);
    scale_dims[axis] = tensor.dims[axis];
    std::uint64_t inner = 1;
    for (std::size_t d = axis + 1; d < 4; ++d) inner *= tensor.dims[d];
    const auto place = [&](std::size_t i) { return i / inner % tensor.dims[axis]; };
    std::vector<Tensor> channels(tensor.dims[axis], Tensor{DType::float32, {}, {}});
    for (std::size_t i = 0; i < tensor.codes.size(); ++i)
      channels[place(i)].codes.push_back(tensor.codes[i]);
    std::vector<float> scales;
    for (const Tensor& channel : channels) scales.push_back(scale_for(largest_of(channel), 127));
    Tensor codes{DType::int8, tensor.dims, {}};
    for (std::size_t i = 0; i < tensor.codes.size(); ++i)
      codes.codes.push_back(
          oracle_quantize(DType::float32, DType::int8, tensor.codes[i], scales[place(i)]).code);
    const Bytes expected = file_of({codes, scale_tensor(scale_dims, scales)});
    const Converted got = converted(file_of({tensor}), quantizing(DType::int8, axis));
    CHECK((got.file == expected));
    CHECK(got.reports.at(0).scales == std::vector<double>(scales.begin(), scales.end()));

    Tensor back{DType::float32, tensor.dims, {}};
    for (std::size_t i = 0; i < codes.codes.size(); ++i)
      back.codes.push_back(
          oracle_dequantize(DType::int8, DType::float32, codes.codes[i], scales[place(i)]).code);
    const Converted returned = converted(expected, dequantizing(DType::float32));
    CHECK((returned.file == file_of({back})));
    CHECK(returned.reports.at(0).scales == got.reports.at(0).scales);

    // The axis is one of the result's dims.
    ConvertOptions turned = quantizing(DType::int8, axis);
    turned.edits = {btf::Permute{{2, 0, 3, 1}}};
    CHECK((converted(file_of({tensor}), turned).file ==
           converted(converted(file_of({tensor}), {.edits = turned.edits}).file,
                     quantizing(DType::int8, axis))
               .file));
  }
}

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

TEST_CASE("dequantise: the numbers of every format, and the scales are used up") {
  const Tensor tensor = random_tensor(DType::float32, {6, 75}, 13);
  const Tensor wide = random_tensor(DType::float16, {9}, 14);
  for (const BlockRule& rule : kBlockRules) {
    const Blocks blocks = expected_blocks(rule, tensor);
    std::vector<Tensor> records = blocks.records(rule);
    records.insert(records.begin(), wide);
    records.push_back(wide);
    const std::uint64_t per_row = blocks.scales.dims.back();
    for (const DType to : kLargeFloats) {
      CAPTURE(name_of(rule.element), static_cast<int>(rule.format), name_of(to));
      Tensor back{to, tensor.dims, {}};
      for (std::size_t i = 0; i < tensor.codes.size(); ++i) {
        const std::uint64_t scale_code =
            blocks.scales.codes[i / 75 * per_row + i % 75 / rule.block];
        const long double scale = oracle_value(scale_type(rule), scale_code) * blocks.tensor_scale;
        back.codes.push_back(oracle_dequantize(rule.element, to, blocks.data.codes[i], scale).code);
      }
      ConvertOptions options = dequantizing(to);
      options.tensors = Words{1};
      CHECK((converted(file_of(records), options).file == file_of({back})));
      if (to != DType::float32) continue;
      // Without a dtype: float32, and what is large already stays.
      const Converted got = converted(file_of(records), {.quantization = {.dequantize = true}});
      CHECK((got.file == file_of({wide, back, wide})));
      CHECK(got.reports.at(2).source == records.size() - 1);
    }
  }
}

TEST_CASE("dequantise: with a zero point") {
  const Tensor codes{DType::uint8, {3}, {0, 128, 255}};
  ConvertOptions options = dequantizing(DType::float32);
  options.quantization.zero_point = 128;
  CHECK((converted(file_of({codes, scale_tensor({}, {0.5F})}), options).file ==
         file_of({tensor_of(DType::float32, {3}, {-64, 0, 63.5})})));
}

TEST_CASE("dequantise: zero points that nobody asked for are no reason for wrong numbers") {
  for (const Dims& dims : {Dims{}, Dims{1, 3}}) {
    CAPTURE(btf::dims_text(dims));
    const auto count = static_cast<std::size_t>(count_of(dims));
    const Tensor codes{DType::int8, {2, 3}, {1, 2, 3, 4, 5, 6}};
    const Tensor scales = scale_tensor(dims, std::vector<float>(count, 0.5F));
    const Tensor zeros{DType::int8, dims, Words(count, 2)};
    const Bytes file = file_of({codes, scales, zeros});
    ConvertOptions options{.quantization = {.dequantize = true}};
    const std::string unread =
        "tensor 0: tensor 2 stands behind the scales as a record of zero points does";
    CHECK(refusal(file, options) == unread);
    CHECK(try_convert(file, options).error->finding == "zero-points-unread");
    options.tensors = Words{0};
    CHECK(refusal(file, options) == unread);
    // They are left where a zero point is given, be it 0.
    options.quantization.zero_point = 0;
    CHECK((converted(file, options).file ==
           file_of({tensor_of(DType::float32, {2, 3}, {0.5, 1, 1.5, 2, 2.5, 3})})));
    options.tensors.reset();
    CHECK(refusal(file, options) ==
          "tensor 2: it stands behind the scales of tensor 0 as a record of zero points does");
    options.quantization.zero_point.reset();
    options.quantization.find_zero_point = true;
    CHECK((converted(file, options).file ==
           file_of({tensor_of(DType::float32, {2, 3}, {-0.5, 0, 0.5, 1, 1.5, 2})})));
    // Another dtype, or other dims, are something else.
    options.quantization.find_zero_point = false;
    options.tensors = Words{0};
    CHECK(!try_convert(file_of({codes, scales, {DType::uint8, dims, Words(count, 2)}}), options)
               .error);
    CHECK(!try_convert(file_of({codes, scales, {DType::int8, {7}, Words(7, 2)}}), options).error);
  }
}

TEST_CASE("dequantise: a scale of NaN makes its block NaN") {
  const Tensor data{DType::float8_e4m3fn, {33}, Words(33, 0x38)};
  const Tensor scales{DType::float8_e8m0fnu, {2}, {0xFF, 0x80}};
  const Converted got = converted(file_of({data, scales}), {.quantization = {.dequantize = true}});
  std::vector<double> numbers(32, NAN);
  numbers.push_back(2);
  CHECK((got.file == file_of({tensor_of(DType::float32, {33}, numbers)})));
}

// Files: layouts, slabs, threads

TEST_CASE("layouts: quantised into one is quantised and then converted") {
  for (const naive::Name& name : naive::names()) {
    const Layout layout = static_cast<Layout>(name.code);
    const std::size_t rank = std::max<std::size_t>(name.least_rank, 3);
    const std::uint64_t channels = naive::can_hold(name, rank, 21) ? 21 : 3;
    const Dims dims = naive::dims_for(name, rank, channels, 35);
    const Tensor tensor = random_tensor(DType::float32, dims, 20);
    const Bytes linear = file_of({tensor});
    const Bytes stored = converted(linear, {.layout = layout}).file;
    const auto axis = static_cast<std::uint32_t>(rank - std::min(rank, name.channel_from_end));
    std::vector<ConvertOptions> ways{quantizing(DType::int8), quantizing(DType::int8, axis),
                                     quantizing(DType::float8_e4m3fn, axis)};
    for (const BlockRule& rule : kBlockRules)
      if (rule.element != DType::float4_e2m1fn)
        ways.push_back(in_blocks(rule.format, rule.element));
    for (std::size_t way = 0; way < ways.size(); ++way) {
      CAPTURE(name.name, way, dims);
      ConvertOptions options = ways[way];
      options.layout = Layout::linear;
      const Bytes plain = converted(linear, options).file;
      CHECK((converted(stored, options).file == plain));
      options.layout = layout;
      const Bytes direct = converted(linear, options).file;
      CHECK((only(direct, 0) == converted(plain, {.layout = layout, .tensors = Words{0}}).file));
      CHECK((only(direct, 1) == only(plain, 1)));
      CHECK((converted(stored, options).file == direct));
      ConvertOptions back = dequantizing(DType::float32);
      back.layout = Layout::linear;
      CHECK((converted(direct, back).file == converted(plain, back).file));
    }
  }
}

TEST_CASE("layouts: 4-bit blocks out of a blocked layout") {
  const Tensor tensor = random_tensor(DType::float16, {2, 19, 3, 35}, 21);
  const Bytes stored = converted(file_of({tensor}), {.layout = Layout::hwc8}).file;
  for (const BlockFormat format : {BlockFormat::mxfp4, BlockFormat::nvfp4}) {
    ConvertOptions options = in_blocks(format);
    options.layout = Layout::linear;
    CHECK((converted(stored, options).file == converted(file_of({tensor}), options).file));
  }
}

TEST_CASE("large tensors: the same for every number of threads") {
  const Dims dims{37, 130, 523};  // 10 MB, several slabs
  Tensor tensor{DType::float32, dims, {}};
  Random random(22);
  for (std::uint64_t i = 0; i < count_of(dims); ++i)
    tensor.codes.push_back((random.next() & 0x877FFFFF) | 0x38000000);
  const Bytes input = file_of({tensor});
  std::vector<ConvertOptions> ways{quantizing(DType::int8, 1), quantizing(DType::uint16, 2),
                                   in_blocks(BlockFormat::mxfp8), in_blocks(BlockFormat::nvfp4)};
  ways[1].quantization.zero_point = 30'000;
  ways[2].layout = Layout::hwc16;
  for (ConvertOptions& options : ways) {
    options.execution.jobs = 1;
    const Converted one = converted(input, options);
    options.execution.jobs = 3;
    const Converted three = converted(input, options);
    CHECK((one.file == three.file));
    CHECK(one.reports.at(0).loss.inexact == three.reports.at(0).loss.inexact);
    CHECK(one.reports.at(0).loss.max_abs == three.reports.at(0).loss.max_abs);
    CHECK(one.reports.at(0).loss.elements == count_of(dims));
    ConvertOptions back = dequantizing(DType::float32);
    back.execution.jobs = 1;
    const Converted first = converted(one.file, back);
    back.execution.jobs = 3;
    CHECK((converted(one.file, back).file == first.file));
    CHECK(first.reports.at(0).loss.elements == count_of(dims));
  }
}

// Slabs of which none is a row, in layouts where the last dim is not the innermost: they must end
// where blocks end.
TEST_CASE("large tensors: slabs end where blocks do") {
  const Dims dims{104, 1, 12000};
  const Tensor tensor = random_tensor(DType::float32, dims, 23);
  const Bytes linear = file_of({tensor});
  const Bytes plain = converted(linear, in_blocks(BlockFormat::mxfp8)).file;
  for (const Layout layout : {Layout::hwc8, Layout::hwc16, Layout::chw32}) {
    ConvertOptions options = in_blocks(BlockFormat::mxfp8);
    options.layout = layout;
    const Bytes direct = converted(linear, options).file;
    CHECK((only(direct, 0) == converted(plain, {.layout = layout, .tensors = Words{0}}).file));
    CHECK((only(direct, 1) == only(plain, 1)));
    options.layout = Layout::linear;
    CHECK((converted(converted(linear, {.layout = layout}).file, options).file == plain));
  }
}

TEST_CASE("large tensors: through a pipe, front to back") {
  const ScratchDir scratch;
  // So many channels that the interleaved ones of 32 columns are more than a slab.
  const Tensor tensor = random_tensor(DType::float32, {40000, 1, 64}, 24);
  const btf::TensorFile file = bytes::open(bytes::save(scratch, "in", file_of({tensor})));
  ConvertOptions options = in_blocks(BlockFormat::mxfp8);
  options.layout = Layout::hwc8;
  REQUIRE(btf::convert(file, scratch / "out", options));
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  Bytes got;
  {
    const int keep = ::open((scratch / "pipe").c_str(), O_RDWR);
    const int reader = ::open((scratch / "pipe").c_str(), O_RDONLY);
    const std::jthread read([&] {
      Bytes part(1U << 16);
      for (ssize_t n = 0; (n = ::read(reader, part.data(), part.size())) > 0;)
        got.insert(got.end(), part.begin(), part.begin() + n);
      ::close(reader);
    });
    CHECK(btf::convert(file, scratch / "pipe", options));
    ::close(keep);
  }
  CHECK((got == read_file(scratch / "out")));
}

// Refusals

TEST_CASE("refused: what makes no sense") {
  const Bytes numbers = file_of({random_tensor(DType::float32, {4, 8}, 30)});
  const Bytes codes = file_of({Tensor{DType::int8, {4}, {1, 2, 3, 4}}});
  const auto given = [](DType to, double scale, std::int64_t zero = 0) {
    return ConvertOptions{.dtype = to, .quantization = {.scale = scale, .zero_point = zero}};
  };
  CHECK(refusal(numbers, given(DType::float16, 0.1)) ==
        "tensor 0: a scale means nothing from float32 to float16: one of them must be an integer "
        "or a float of 8 bits or less");
  CHECK(refusal(numbers, given(DType::boolean, 0.1)) ==
        "tensor 0: a scale means nothing from float32 to bool: one of them must be an integer or a "
        "float of 8 bits or less");
  CHECK(refusal(codes, given(DType::boolean, 0.1)) ==
        "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not bool");
  CHECK(refusal(codes, given(DType::float8_e8m0fnu, 0.1)) ==
        "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not float8_e8m0fnu");
  for (const double scale : {0.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    CHECK_THAT(refusal(numbers, given(DType::int8, scale)),
               Catch::EndsWith("scales are positive numbers"));
  CHECK(refusal(numbers, given(DType::float8_e4m3fn, 1, 3)) ==
        "tensor 0: a zero point means nothing for float8_e4m3fn: only integers have one");
  CHECK(refusal(numbers, given(DType::int8, 1, 128)) ==
        "tensor 0: the zero point 128 is beyond int8");
  CHECK(refusal(numbers, given(DType::uint8, 1, -1)) ==
        "tensor 0: the zero point -1 is beyond uint8");
  CHECK(refusal(codes, given(DType::float32, 1, -129)) ==
        "tensor 0: the zero point -129 is beyond int8");
  CHECK(refusal(file_of({tensor_of(DType::float32, {2}, {-3.25, 1})}), quantizing(DType::uint8)) ==
        "tensor 0: numbers from -3.25 to 1 do not fit: with the zero point 0 no code of uint8 "
        "stands for one below 0; a zero point between its ends fits them");
  ConvertOptions found = quantizing(DType::uint64);
  found.quantization.find_zero_point = true;
  CHECK(refusal(numbers, found) ==
        "tensor 0: a zero point is found for integers of up to 32 bits, not for uint64");
  found.dtype = DType::float8_e4m3fn;
  CHECK(refusal(numbers, found) ==
        "tensor 0: a zero point means nothing for float8_e4m3fn: only integers have one");
  // Blocks are floats.
  ConvertOptions blocks{.quantization = {.zero_point = -3, .block = BlockFormat::mxfp8}};
  CHECK(refusal(numbers, blocks) == "--zero-point goes with --scale or --dequantize");
  blocks.quantization.zero_point.reset();
  blocks.quantization.find_zero_point = true;
  CHECK(refusal(numbers, blocks) == "--zero-point goes with --scale or --dequantize");
  ConvertOptions zeros = dequantizing(DType::float32);
  zeros.quantization.find_zero_point = true;
  CHECK(
      refusal(file_of({Tensor{DType::int8, {2}, {1, 2}}, scale_tensor({}, {1})}), zeros) ==
      "tensor 0: no record of zero points, of int8 and with the dims of the scales, stands behind "
      "those of the tensor");
  CHECK(refusal(numbers, quantizing(DType::float16)) ==
        "tensor 0: a scale for float16 cannot be chosen: quantising needs an integer or a float of "
        "8 bits or less");
  CHECK(refusal(numbers, quantizing(DType::int8, 2)) ==
        "tensor 0: there is no dim 2 for the scales, the tensor has rank 2");
  CHECK(refusal(numbers, in_blocks(BlockFormat::mxfp8, DType::float4_e2m1fn)) ==
        "tensor 0: mxfp8 has elements of float8_e4m3fn, not of float4_e2m1fn");
  CHECK(refusal(numbers, in_blocks(BlockFormat::nvfp4, DType::int4)) ==
        "tensor 0: nvfp4 has elements of float4_e2m1fn, not of int4");
  CHECK(refusal(file_of({tensor_of(DType::float32, {}, {1})}), in_blocks(BlockFormat::mxfp4)) ==
        "tensor 0: blocks need a dim to run along, the tensor has rank 0");
}

TEST_CASE("refused: policies that mean nothing with a scale") {
  const Bytes numbers = file_of({random_tensor(DType::float32, {4}, 30)});
  const Bytes codes = file_of({Tensor{DType::int8, {4}, {1, 2, 3, 4}}});
  ConvertOptions options{.dtype = DType::int8, .quantization = {.scale = 0.1}};
  options.policy.overflow = Overflow::wrap;
  CHECK(refusal(numbers, options) ==
        "tensor 0: overflow wrap means nothing with a scale: codes are clamped");
  options.policy.overflow = Overflow::ieee;
  CHECK(refusal(codes, options) ==
        "tensor 0: overflow ieee means nothing for int8: it has no Inf and no NaN");
  options.policy = {};
  options.policy.rounding = Rounding::up;
  CHECK(!try_convert(numbers, options).error);
  options.dtype = DType::float32;
  CHECK(refusal(codes, options) ==
        "tensor 0: a rounding other than to nearest means nothing for float32: with a scale it "
        "applies to integers");
}

TEST_CASE("refused: COO on either side") {
  const Bytes sparse =
      bytes::file({bytes::coo(DType::float32, {4}, {{1}, {3}}, bytes::values<float>({1.5F, -2}))});
  const std::string message =
      "tensor 0: scales go with dense tensors; convert to a dense layout first";
  CHECK(refusal(sparse, quantizing(DType::int8)) == message);
  CHECK(refusal(sparse, in_blocks(BlockFormat::mxfp8)) == message);
  CHECK(refusal(sparse, {.quantization = {.dequantize = true}}) == message);
  ConvertOptions to_sparse = quantizing(DType::int8);
  to_sparse.layout = Layout::coo;
  CHECK(refusal(file_of({random_tensor(DType::float32, {4}, 1)}), to_sparse) == message);
}

TEST_CASE("refused: codes without the scales they need") {
  const Tensor codes{DType::int8, {2, 3}, {1, 2, 3, 4, 5, 6}};
  const Tensor small{DType::float8_e4m3fn, {2, 3}, Words(6, 0x38)};
  const Tensor nibbles{DType::float4_e2m1fn, {2, 3}, Words(6, 2)};
  const ConvertOptions options{.quantization = {.dequantize = true}};
  const std::string missing = "tensor 0: no record of scales stands behind the tensor";
  const auto e8m0 = [](const Dims& dims) {
    return Tensor{DType::float8_e8m0fnu, dims, Words(count_of(dims), 127)};
  };
  CHECK(refusal(file_of({codes}), options) == missing);
  CHECK(refusal(file_of({codes, codes, scale_tensor({}, {1})}), options) == missing);
  CHECK(refusal(file_of({codes, scale_tensor({1}, {1})}), options) == missing);
  CHECK(refusal(file_of({codes, scale_tensor({2, 3}, {1, 1, 1, 1, 1, 1})}), options) == missing);
  CHECK(refusal(file_of({codes, scale_tensor({1, 2}, {1, 1})}), options) == missing);
  CHECK(refusal(file_of({codes, tensor_of(DType::float16, {}, {1})}), options) == missing);
  CHECK(refusal(file_of({codes, e8m0({2, 1})}), options) == missing);
  CHECK(refusal(file_of({small, e8m0({2, 3})}), options) == missing);
  CHECK(refusal(file_of({small, e8m0({1, 2})}), options) == missing);
  // nvfp4, without the tensor's scale.
  const Tensor e4m3{DType::float8_e4m3fn, {2, 1}, {0x38, 0x38}};
  CHECK(refusal(file_of({nibbles, e4m3}), options) == missing);
  CHECK(refusal(file_of({nibbles, e4m3, scale_tensor({1}, {1})}), options) == missing);
  CHECK(!try_convert(file_of({nibbles, e4m3, scale_tensor({}, {1})}), options).error);
  ConvertOptions mxfp4 = options;
  mxfp4.quantization.block = BlockFormat::mxfp4;
  CHECK(refusal(file_of({nibbles}), mxfp4) ==
        "--scale, --block-scale and --dequantize exclude each other");
  // In a file with something else behind, and in the middle.
  CHECK_THAT(refusal(file_of({codes, scale_tensor({}, {1}), codes}), options),
             Catch::StartsWith("tensor 2: no record of scales"));
}

TEST_CASE("refused: scales that are no positive numbers") {
  const Tensor codes{DType::int8, {2}, {1, 2}};
  const Tensor nibbles{DType::float4_e2m1fn, {2}, {1, 2}};
  const Tensor e4m3{DType::float8_e4m3fn, {1}, {0x38}};
  const ConvertOptions options{.quantization = {.dequantize = true}};
  const auto message = [](int record, const std::string& value) {
    return "tensor 0: a scale in tensor " + std::to_string(record) + " is " + value +
           ": scales are positive numbers";
  };
  CHECK(refusal(file_of({codes, scale_tensor({}, {0})}), options) == message(1, "0"));
  CHECK(refusal(file_of({codes, scale_tensor({2}, {1, -0.5F})}), options) == message(1, "-0.5"));
  CHECK(refusal(file_of({codes, scale_tensor({}, {INFINITY})}), options) == message(1, "inf"));
  CHECK(refusal(file_of({codes, scale_tensor({}, {NAN})}), options) == message(1, "nan"));
  CHECK(refusal(file_of({nibbles, e4m3, scale_tensor({}, {-1})}), options) == message(2, "-1"));
}

TEST_CASE("refused: dequantising to another type, or permuted") {
  const Bytes codes = file_of({Tensor{DType::int8, {2, 2}, {1, 2, 3, 4}}, scale_tensor({}, {1})});
  for (const DType to : {DType::int32, DType::float8_e4m3fn, DType::float8_e8m0fnu, DType::boolean})
    CHECK(refusal(codes, dequantizing(to)) ==
          "tensor 0: dequantising gives float16, bfloat16, float32 or float64, not " + name_of(to));
  ConvertOptions turned = dequantizing(DType::float32);
  turned.edits = {btf::Permute{{1, 0}}};
  CHECK(
      refusal(codes, turned) ==
      "tensor 0: dequantising and editing the dims in one go is not possible: permute afterwards");
}

TEST_CASE("lossless and overflow error name the first element and leave the output alone") {
  const ScratchDir scratch;
  const Bytes junk(3, std::byte{0xA5});
  const auto message = [&](const Bytes& input, const ConvertOptions& options) {
    write_file(scratch / "out", junk);
    const btf::TensorFile file = bytes::open(bytes::save(scratch, "in", input));
    const auto result = btf::convert(file, scratch / "out", options);
    REQUIRE(!result);
    CHECK(result.error().code == btf::ErrorCode::refused);
    CHECK((read_file(scratch / "out") == junk));
    CHECK(scratch.names() == std::vector<std::string>{"in", "out"});
    return said(result.error());
  };
  std::vector<double> values(300, 0.5);
  values[257] = 0.3;
  values[258] = 1000;
  const Bytes numbers = file_of({tensor_of(DType::float32, {3, 100}, values)});
  ConvertOptions options{.dtype = DType::int8, .quantization = {.scale = 0.25}};
  options.policy.lossless = true;
  CHECK_THAT(message(numbers, options),
             Catch::StartsWith("tensor 0: element [2, 57] = 0.3 is not exact in int8"));
  options.policy = {};
  options.policy.overflow = Overflow::error;
  CHECK_THAT(message(numbers, options),
             Catch::StartsWith("tensor 0: element [2, 58] = 1000 overflows int8"));
  options.quantization.scale = 10;
  CHECK(!try_convert(numbers, options).error);

  ConvertOptions blocks = in_blocks(BlockFormat::mxfp8);
  blocks.policy.lossless = true;
  CHECK_THAT(message(numbers, blocks), Catch::StartsWith("tensor 0: element [2, 57] = 0.3 is"));
  blocks.policy = {};
  blocks.policy.overflow = Overflow::error;
  CHECK_THAT(message(numbers, blocks),
             Catch::StartsWith("tensor 0: element [2, 58] = 1000 overflows float8_e4m3fn"));

  const Bytes codes = file_of({Tensor{DType::int8, {2}, {0, 3}}, scale_tensor({}, {0x1p100F})});
  ConvertOptions back = dequantizing(DType::float16);
  back.policy.overflow = Overflow::error;
  CHECK_THAT(message(codes, back),
             Catch::StartsWith("tensor 0: element [1] = 3 overflows float16"));

  // In a later slab than the first, whoever gets there first.
  Tensor large{DType::float32, {30, 100'000}, Words(3'000'000, 0x3F800000)};
  for (const std::size_t i : {1'234'567U, 2'000'003U, 2'999'999U}) large.codes[i] = 0x3E99999A;
  options.quantization.scale = 0.25;
  options.policy = {};
  options.policy.lossless = true;
  for (const unsigned jobs : {1U, 3U}) {
    options.execution.jobs = jobs;
    CHECK_THAT(message(file_of({large}), options),
               Catch::StartsWith("tensor 0: element [12, 34567] = 0.3 is not exact"));
  }
}
