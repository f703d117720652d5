// Tensors to quantise, and what must come out, by the oracle.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <numeric>

#include "btf/convert.h"
#include "btf/quantize.h"
#include "kernels/scale/scale.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/quantize_oracle.h"
#include "support/random_tensor.h"
#include "support/said.h"

namespace quantize_cases {

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

inline const std::vector<DType> kIntegers{DType::int4,   DType::int8,  DType::int16, DType::int32,
                                          DType::int64,  DType::uint4, DType::uint8, DType::uint16,
                                          DType::uint32, DType::uint64};
inline const std::vector<DType> kSmallFloats{
    DType::float8_e4m3fn,   DType::float8_e5m2, DType::float4_e2m1fn, DType::float8_e4m3fnuz,
    DType::float8_e5m2fnuz, DType::float8_e3m4, DType::float8_e4m3,   DType::float8_e4m3b11fnuz};
inline const std::vector<DType> kLargeFloats{DType::float16, DType::bfloat16, DType::float32,
                                             DType::float64};

inline std::vector<DType> small_types() {
  std::vector<DType> all = kIntegers;
  all.insert(all.end(), kSmallFloats.begin(), kSmallFloats.end());
  return all;
}

inline std::vector<DType> all_types() {
  std::vector<DType> all;
  for (const btf::DTypeInfo& row : btf::dtypes()) all.push_back(row.dtype);
  return all;
}

inline unsigned bits_of(DType dtype) { return btf::info(dtype).bits; }
inline std::string name_of(DType dtype) { return std::string(btf::info(dtype).name); }

inline std::uint64_t all_ones(unsigned bits) { return bits == 64 ? ~0ULL : (1ULL << bits) - 1; }

inline std::uint64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

// What a zero point can be for a type: both ends, their neighbours, and something between.
inline std::vector<std::int64_t> zero_points(DType dtype) {
  const btf::test::IntegerLimits limits(dtype);
  const auto least = static_cast<std::int64_t>(limits.least);
  const auto largest =
      static_cast<std::int64_t>(std::min<btf::test::SignedWide>(limits.largest, INT64_MAX));
  return {least, least + 1, least / 2 + largest / 2, 3, largest - 1, largest};
}

struct Tensor {
  DType dtype{};
  Dims dims;
  Words codes;
};

inline Tensor tensor_of(DType dtype, Dims dims, const std::vector<double>& values) {
  Words codes;
  for (const double value : values) codes.push_back(float_code(dtype, value));
  return {dtype, std::move(dims), std::move(codes)};
}

// Values of all sizes, with a zero here and there.
inline Tensor random_tensor(DType dtype, const Dims& dims, std::uint64_t seed) {
  Random random(seed);
  Tensor tensor{dtype, dims, {}};
  for (std::uint64_t i = 0; i < count_of(dims); ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random.below(16)) - 8);
    const double value = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1;
    tensor.codes.push_back(random.below(9) == 0 ? 0 : float_code(dtype, value * size));
  }
  return tensor;
}

inline Bytes record(const Tensor& tensor) {
  return bytes::dense(tensor.dtype, Layout::linear, tensor.dims,
                      bytes::pack(bits_of(tensor.dtype), tensor.codes));
}

inline Bytes file_of(const std::vector<Tensor>& tensors) {
  std::vector<Bytes> records;
  for (const Tensor& tensor : tensors) records.push_back(record(tensor));
  return bytes::file(std::move(records));
}

struct Converted {
  std::optional<btf::Error> error;
  Bytes file;
  std::vector<btf::TensorReport> reports;
};

inline Converted try_convert(const Bytes& input, const ConvertOptions& options) {
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

inline Converted converted(const Bytes& input, const ConvertOptions& options) {
  Converted result = try_convert(input, options);
  INFO((result.error ? result.error->text() : ""));
  REQUIRE(!result.error);
  return result;
}

inline std::string refusal(const Bytes& input, const ConvertOptions& options) {
  const Converted result = try_convert(input, options);
  REQUIRE(result.error);
  return said(*result.error);
}

inline Bytes only(const Bytes& input, std::uint64_t index) {
  return converted(input, {.tensors = Words{index}}).file;
}

inline ConvertOptions quantizing(DType dtype, std::optional<std::uint32_t> axis = {}) {
  return {.dtype = dtype, .quantization = {.automatic = true, .axis = axis}};
}

inline ConvertOptions in_blocks(BlockFormat format, std::optional<DType> dtype = {}) {
  return {.dtype = dtype, .quantization = {.block = format}};
}

inline ConvertOptions dequantizing(DType dtype) {
  return {.dtype = dtype, .quantization = {.dequantize = true}};
}

inline long double largest_of(const Tensor& tensor) {
  long double largest = 0;
  for (const std::uint64_t code : tensor.codes) {
    const long double x = oracle_value(tensor.dtype, code);
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

inline float scale_for(long double largest, long double representable) {
  return largest == 0 ? 1 : static_cast<float>(static_cast<double>(largest / representable));
}

inline Tensor quantized(const Tensor& tensor, DType to, long double scale) {
  Tensor result{to, tensor.dims, {}};
  for (const std::uint64_t code : tensor.codes)
    result.codes.push_back(oracle_quantize(tensor.dtype, to, code, scale).code);
  return result;
}

inline Tensor scale_tensor(const Dims& dims, const std::vector<float>& scales) {
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

inline const std::vector<BlockRule> kBlockRules{
    {BlockFormat::mxfp8, DType::float8_e4m3fn, 32, 8},
    {BlockFormat::mxfp8, DType::float8_e5m2, 32, 15},
    {BlockFormat::mxfp4, DType::float4_e2m1fn, 32, 2},
    {BlockFormat::nvfp4, DType::float4_e2m1fn, 16, 0},
};

inline bool is_nvfp4(const BlockRule& rule) { return rule.format == BlockFormat::nvfp4; }

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

inline std::uint64_t expected_scale(const BlockRule& rule, long double largest,
                                    float tensor_scale) {
  if (is_nvfp4(rule))
    return btf::test::quantize_to_float(DType::float8_e4m3fn, largest, 6.0L * tensor_scale, {})
        .code;
  if (largest == 0) return 0;
  return static_cast<std::uint64_t>(std::clamp(std::ilogb(largest) - rule.emax, -127, 127) + 127);
}

// Of the scale codes of a format.
inline DType scale_type(const BlockRule& rule) {
  return is_nvfp4(rule) ? DType::float8_e4m3fn : DType::float8_e8m0fnu;
}

inline Blocks expected_blocks(const BlockRule& rule, const Tensor& tensor) {
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

}  // namespace quantize_cases
