// The dtype table, and comparisons of the ranges of two dtypes.
#pragma once

#include <algorithm>
#include <array>

#include "btf/dlpack_abi.h"
#include "btf/dtype.h"

namespace btf {

// Returns true if some value of `from`, including Inf, is beyond the range of `to`. Bool takes any
// value.
bool can_overflow(DType from, DType to);

namespace dtype_rows {

// The rows of the dtype table. To add a dtype, add a row here and its enumerator in btf/dtype.h.

using enum NumberKind;
using enum FloatSpecials;
using namespace dlpack;

// exponent bits, mantissa bits, bias, specials, saturates, power of two
inline constexpr FloatGeometry kFloat64{11, 52, 1023, ieee, false, false};
inline constexpr FloatGeometry kFloat32{8, 23, 127, ieee, false, false};
inline constexpr FloatGeometry kFloat16{5, 10, 15, ieee, false, false};
inline constexpr FloatGeometry kBFloat16{8, 7, 127, ieee, false, false};
inline constexpr FloatGeometry kE4M3{4, 3, 7, nan_only, true, false};
inline constexpr FloatGeometry kE5M2{5, 2, 15, ieee, true, false};
inline constexpr FloatGeometry kE8M0{8, 0, 127, nan_only, true, true};
inline constexpr FloatGeometry kE2M1{2, 1, 1, none, true, false};
inline constexpr FloatGeometry kE4M3Fnuz{4, 3, 8, fnuz, true, false};
inline constexpr FloatGeometry kE5M2Fnuz{5, 2, 16, fnuz, true, false};
inline constexpr FloatGeometry kE3M4{3, 4, 3, ieee, true, false};
inline constexpr FloatGeometry kE4M3Ieee{4, 3, 7, ieee, true, false};
inline constexpr FloatGeometry kE4M3B11Fnuz{4, 3, 11, fnuz, true, false};

// The tolerances of torch.testing for the floats that it has; half a step for smaller floats: rtol
// at the start of a binade, where it is largest, and atol below the normal numbers.
inline constexpr Closeness kCloseFloat64{1e-7, 1e-7};
inline constexpr Closeness kCloseFloat32{1.3e-6, 1e-5};
inline constexpr Closeness kCloseFloat16{1e-3, 1e-5};
inline constexpr Closeness kCloseBFloat16{1.6e-2, 1e-5};
consteval Closeness half_step(const FloatGeometry& fp) {
  const auto power = [](int exponent) {
    double value = 1;
    for (; exponent < 0; ++exponent) value /= 2;
    return value;
  };
  return {power(-1 - fp.mantissa_bits),
          power((fp.power_of_two ? 0 : 1) - fp.bias - fp.mantissa_bits - 1)};
}

// The last three columns are the names in PyTorch, safetensors and TensorRT's DataType, if any.
// clang-format off
inline constexpr auto kRows = std::to_array<DTypeInfo>({
    {DType::int8, "int8", {"i8"}, 8, signed_integer, {}, {}, "i1", kDLInt, "int8", "I8", "kINT8"},
    {DType::int16, "int16", {"i16"}, 16, signed_integer, {}, {}, "i2", kDLInt, "int16", "I16", ""},
    {DType::int32, "int32", {"i32"}, 32, signed_integer, {}, {}, "i4", kDLInt, "int32", "I32", "kINT32"},
    {DType::int64, "int64", {"i64"}, 64, signed_integer, {}, {}, "i8", kDLInt, "int64", "I64", "kINT64"},
    {DType::float32, "float32", {"fp32", "f32", "float", "single"}, 32, floating, kFloat32, kCloseFloat32, "f4", kDLFloat, "float32", "F32", "kFLOAT"},
    {DType::float64, "float64", {"fp64", "f64", "double"}, 64, floating, kFloat64, kCloseFloat64, "f8", kDLFloat, "float64", "F64", ""},
    {DType::uint8, "uint8", {"u8", "ui8"}, 8, unsigned_integer, {}, {}, "u1", kDLUInt, "uint8", "U8", "kUINT8"},
    {DType::uint16, "uint16", {"u16", "ui16"}, 16, unsigned_integer, {}, {}, "u2", kDLUInt, "uint16", "U16", ""},
    {DType::uint32, "uint32", {"u32", "ui32"}, 32, unsigned_integer, {}, {}, "u4", kDLUInt, "uint32", "U32", ""},
    {DType::uint64, "uint64", {"u64", "ui64"}, 64, unsigned_integer, {}, {}, "u8", kDLUInt, "uint64", "U64", ""},
    {DType::float16, "float16", {"fp16", "f16", "half"}, 16, floating, kFloat16, kCloseFloat16, "f2", kDLFloat, "float16", "F16", "kHALF"},
    {DType::bfloat16, "bfloat16", {"bf16"}, 16, floating, kBFloat16, kCloseBFloat16, "", kDLBfloat, "bfloat16", "BF16", "kBF16"},
    {DType::float8_e4m3fn, "float8_e4m3fn", {"fp8", "f8_e4m3", "f8_e4m3fn", "e4m3fn", "e4m3", "fp8_e4m3"}, 8, floating, kE4M3, half_step(kE4M3), "", kDLFloat8_e4m3fn, "float8_e4m3fn", "F8_E4M3", "kFP8"},
    {DType::float8_e5m2, "float8_e5m2", {"f8_e5m2", "e5m2", "fp8_e5m2"}, 8, floating, kE5M2, half_step(kE5M2), "", kDLFloat8_e5m2, "float8_e5m2", "F8_E5M2", ""},
    {DType::float8_e8m0fnu, "float8_e8m0fnu", {"e8m0", "f8_e8m0", "f8_e8m0fnu", "float8_e8m0", "e8m0fnu"}, 8, floating, kE8M0, half_step(kE8M0), "", kDLFloat8_e8m0fnu, "float8_e8m0fnu", "F8_E8M0", "kE8M0"},
    {DType::float4_e2m1fn, "float4_e2m1fn", {"fp4", "f4", "f4_e2m1", "float4_e2m1", "e2m1fn", "e2m1"}, 4, floating, kE2M1, half_step(kE2M1), "", kDLFloat4_e2m1fn, "float4_e2m1fn_x2", "F4", "kFP4"},
    {DType::int4, "int4", {"i4"}, 4, signed_integer, {}, {}, "", kDLInt, "", "", "kINT4"},
    {DType::uint4, "uint4", {"u4", "ui4"}, 4, unsigned_integer, {}, {}, "", kDLUInt, "", "", ""},
    {DType::boolean, "bool", {"boolean", "i1"}, 8, NumberKind::boolean, {}, {}, "b1", kDLBool, "bool", "BOOL", "kBOOL"},
    {DType::float8_e4m3fnuz, "float8_e4m3fnuz", {"f8_e4m3fnuz", "e4m3fnuz"}, 8, floating, kE4M3Fnuz, half_step(kE4M3Fnuz), "", kDLFloat8_e4m3fnuz, "float8_e4m3fnuz", "F8_E4M3FNUZ", ""},
    {DType::float8_e5m2fnuz, "float8_e5m2fnuz", {"f8_e5m2fnuz", "e5m2fnuz"}, 8, floating, kE5M2Fnuz, half_step(kE5M2Fnuz), "", kDLFloat8_e5m2fnuz, "float8_e5m2fnuz", "F8_E5M2FNUZ", ""},
    {DType::float8_e3m4, "float8_e3m4", {"f8_e3m4", "e3m4"}, 8, floating, kE3M4, half_step(kE3M4), "", kDLFloat8_e3m4, "", "", ""},
    // The names of trtexec and safetensors mean float8_e4m3fn, not this type.
    {DType::float8_e4m3, "float8_e4m3", {}, 8, floating, kE4M3Ieee, half_step(kE4M3Ieee), "", kDLFloat8_e4m3, "", "", ""},
    {DType::float8_e4m3b11fnuz, "float8_e4m3b11fnuz", {"f8_e4m3b11fnuz", "e4m3b11fnuz"}, 8, floating, kE4M3B11Fnuz, half_step(kE4M3B11Fnuz), "", kDLFloat8_e4m3b11fnuz, "", "", ""},
});

// clang-format on

static_assert(std::ranges::all_of(kRows,
                                  [](const DTypeInfo& row) {
                                    return row.half_byte() || row.bits == 8 || row.bits == 16 ||
                                           row.bits == 32 || row.bits == 64;
                                  }),
              "other sizes need more than a row (docs/adding.md, section 1)");

}  // namespace dtype_rows

inline constexpr std::size_t kDTypeCount = dtype_rows::kRows.size();

namespace dtype_rows {

// Row by code of the dtype: a table, since kernels look it up for every tile.
inline constexpr auto kRowOf = [] {
  std::array<std::uint8_t, 256> rows{};
  for (std::size_t row = 0; row < kRows.size(); ++row)
    rows[static_cast<std::uint8_t>(kRows[row].dtype)] = static_cast<std::uint8_t>(row);
  return rows;
}();

}  // namespace dtype_rows

constexpr std::size_t row_of(DType dtype) {
  return dtype_rows::kRowOf[static_cast<std::uint8_t>(dtype)];
}

}  // namespace btf
