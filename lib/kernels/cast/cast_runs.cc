// One function per pair, compiled for several instruction sets.
#include "kernels/cast/cast_runs.h"

#include <array>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/cast_runs.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "kernels/cast/cast_boolean-inl.h"
#include "kernels/cast/cast_narrow-inl.h"
#include "kernels/cast/cast_wide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#define BTF_PAIR(name, ...) \
  void name(const CastRuns& work, LossAccount& account) { __VA_ARGS__(work, account); }

BTF_PAIR(f32_f16, cast_narrow<InVectors<ToFloat16>>)
BTF_PAIR(f32_bf16, cast_narrow<InVectors<ToBfloat16>>)
BTF_PAIR(f32_e4m3, cast_narrow<InVectors<ToFloat<DType::float8_e4m3fn>>>)
BTF_PAIR(f32_e5m2, cast_narrow<InVectors<ToFloat<DType::float8_e5m2>>>)
BTF_PAIR(f32_e2m1, cast_narrow<InVectors<ToFloat<DType::float4_e2m1fn>>>)
BTF_PAIR(f32_e4m3fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e4m3fnuz>>>)
BTF_PAIR(f32_e5m2fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e5m2fnuz>>>)
BTF_PAIR(f32_e3m4, cast_narrow<InVectors<ToFloat<DType::float8_e3m4>>>)
BTF_PAIR(f32_e4m3ieee, cast_narrow<InVectors<ToFloat<DType::float8_e4m3>>>)
BTF_PAIR(f32_e4m3b11fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e4m3b11fnuz>>>)
BTF_PAIR(f32_i4, cast_narrow<InVectors<ToInteger<DType::int4>>>)
BTF_PAIR(f32_u4, cast_narrow<InVectors<ToInteger<DType::uint4>>>)
BTF_PAIR(f32_i8, cast_narrow<InVectors<ToInteger<DType::int8>>>)
BTF_PAIR(f32_u8, cast_narrow<InVectors<ToInteger<DType::uint8>>>)
BTF_PAIR(f32_i16, cast_narrow<InVectors<ToInteger<DType::int16>>>)
BTF_PAIR(f32_u16, cast_narrow<InVectors<ToInteger<DType::uint16>>>)
BTF_PAIR(f32_i32, cast_narrow<InVectors<ToInteger<DType::int32>>>)
BTF_PAIR(f32_u32, cast_narrow<InVectors<ToInteger<DType::uint32>>>)
BTF_PAIR(f32_bool, cast_float32_to_bool)
BTF_PAIR(f64_f32, cast_float64_to_float32)
BTF_PAIR(i32_f32, cast_int32_to_float32)
BTF_PAIR(i64_i32, cast_int64_to_int32)
BTF_PAIR(f16_f32, cast_floats_exactly<SmallFloatToFloat32<DType::float16>, float16_to_float32>)
BTF_PAIR(bf16_f32, cast_floats_exactly<SmallFloatToFloat32<DType::bfloat16>, bfloat16_to_float32>)
BTF_PAIR(e4m3_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3fn>>)
BTF_PAIR(e5m2_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e5m2>>)
BTF_PAIR(e2m1_f32, cast_exactly<SmallFloatToFloat32<DType::float4_e2m1fn>>)
BTF_PAIR(e4m3fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3fnuz>>)
BTF_PAIR(e5m2fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e5m2fnuz>>)
BTF_PAIR(e3m4_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e3m4>>)
BTF_PAIR(e4m3ieee_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3>>)
BTF_PAIR(e4m3b11fnuz_f32, cast_exactly<SmallFloatToFloat32<DType::float8_e4m3b11fnuz>>)
BTF_PAIR(i4_f32, cast_exactly<SmallIntegerToFloat32<DType::int4>>)
BTF_PAIR(u4_f32, cast_exactly<SmallIntegerToFloat32<DType::uint4>>)
BTF_PAIR(i8_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::int8>, std::int8_t>)
BTF_PAIR(u8_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::uint8>, std::uint8_t>)
BTF_PAIR(i16_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::int16>, std::int16_t>)
BTF_PAIR(u16_f32, cast_integers_to_float32<SmallIntegerToFloat32<DType::uint16>, std::uint16_t>)
BTF_PAIR(bool_f32, cast_exactly<SmallIntegerToFloat32<DType::boolean>>)
BTF_PAIR(f32_f64, cast_floats_exactly<Float32ToFloat64, float32_to_float64>)
BTF_PAIR(i32_i64, cast_int32_to_int64)

#undef BTF_PAIR

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

#define BTF_ROW(name, from, to) {from, to, BTF_SIMD_TABLE(name)}

struct Row {
  DType from;
  DType to;
  std::array<CastRunsFn, kCpuLevels> run;
};

constexpr auto kRows = std::to_array<Row>({
    BTF_ROW(f32_f16, DType::float32, DType::float16),
    BTF_ROW(f32_bf16, DType::float32, DType::bfloat16),
    BTF_ROW(f32_e4m3, DType::float32, DType::float8_e4m3fn),
    BTF_ROW(f32_e5m2, DType::float32, DType::float8_e5m2),
    BTF_ROW(f32_e2m1, DType::float32, DType::float4_e2m1fn),
    BTF_ROW(f32_e4m3fnuz, DType::float32, DType::float8_e4m3fnuz),
    BTF_ROW(f32_e5m2fnuz, DType::float32, DType::float8_e5m2fnuz),
    BTF_ROW(f32_e3m4, DType::float32, DType::float8_e3m4),
    BTF_ROW(f32_e4m3ieee, DType::float32, DType::float8_e4m3),
    BTF_ROW(f32_e4m3b11fnuz, DType::float32, DType::float8_e4m3b11fnuz),
    BTF_ROW(f32_i4, DType::float32, DType::int4),
    BTF_ROW(f32_u4, DType::float32, DType::uint4),
    BTF_ROW(f32_i8, DType::float32, DType::int8),
    BTF_ROW(f32_u8, DType::float32, DType::uint8),
    BTF_ROW(f32_i16, DType::float32, DType::int16),
    BTF_ROW(f32_u16, DType::float32, DType::uint16),
    BTF_ROW(f32_i32, DType::float32, DType::int32),
    BTF_ROW(f32_u32, DType::float32, DType::uint32),
    BTF_ROW(f32_bool, DType::float32, DType::boolean),
    BTF_ROW(f64_f32, DType::float64, DType::float32),
    BTF_ROW(i32_f32, DType::int32, DType::float32),
    BTF_ROW(i64_i32, DType::int64, DType::int32),
    BTF_ROW(f16_f32, DType::float16, DType::float32),
    BTF_ROW(bf16_f32, DType::bfloat16, DType::float32),
    BTF_ROW(e4m3_f32, DType::float8_e4m3fn, DType::float32),
    BTF_ROW(e5m2_f32, DType::float8_e5m2, DType::float32),
    BTF_ROW(e2m1_f32, DType::float4_e2m1fn, DType::float32),
    BTF_ROW(e4m3fnuz_f32, DType::float8_e4m3fnuz, DType::float32),
    BTF_ROW(e5m2fnuz_f32, DType::float8_e5m2fnuz, DType::float32),
    BTF_ROW(e3m4_f32, DType::float8_e3m4, DType::float32),
    BTF_ROW(e4m3ieee_f32, DType::float8_e4m3, DType::float32),
    BTF_ROW(e4m3b11fnuz_f32, DType::float8_e4m3b11fnuz, DType::float32),
    BTF_ROW(i4_f32, DType::int4, DType::float32),
    BTF_ROW(u4_f32, DType::uint4, DType::float32),
    BTF_ROW(i8_f32, DType::int8, DType::float32),
    BTF_ROW(u8_f32, DType::uint8, DType::float32),
    BTF_ROW(i16_f32, DType::int16, DType::float32),
    BTF_ROW(u16_f32, DType::uint16, DType::float32),
    BTF_ROW(bool_f32, DType::boolean, DType::float32),
    BTF_ROW(f32_f64, DType::float32, DType::float64),
    BTF_ROW(i32_i64, DType::int32, DType::int64),
});

// By both dtypes' rows: which of kRows, or kNone.
constexpr std::uint8_t kNone = 255;
constexpr auto kRowOfPair = [] {
  std::array<std::array<std::uint8_t, kDTypeCount>, kDTypeCount> rows{};
  for (auto& of_source : rows) of_source.fill(kNone);
  for (std::size_t row = 0; row < kRows.size(); ++row)
    rows[row_of(kRows[row].from)][row_of(kRows[row].to)] = static_cast<std::uint8_t>(row);
  return rows;
}();

}  // namespace

CastRunsFn find_cast_runs(DType from, DType to) {
  const std::uint8_t row = kRowOfPair[row_of(from)][row_of(to)];
  return row == kNone ? nullptr : kRows[row].run[cpu_level()];
}

}  // namespace btf
#endif
