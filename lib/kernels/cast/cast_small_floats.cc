// float32 to floats of 8 bits and fewer: one function per pair, compiled for several instruction
// sets.
#include "kernels/cast/cast_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast/cast_small_floats.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/cast/cast_narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#define BTF_PAIR(name, ...) \
  void name(const CastRuns& work, LossAccount& account) { __VA_ARGS__(work, account); }

BTF_PAIR(f32_e4m3, cast_narrow<InVectors<ToFloat<DType::float8_e4m3fn>>>)
BTF_PAIR(f32_e5m2, cast_narrow<InVectors<ToFloat<DType::float8_e5m2>>>)
BTF_PAIR(f32_e2m1, cast_narrow<InVectors<ToFloat<DType::float4_e2m1fn>>>)
BTF_PAIR(f32_e4m3fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e4m3fnuz>>>)
BTF_PAIR(f32_e5m2fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e5m2fnuz>>>)
BTF_PAIR(f32_e3m4, cast_narrow<InVectors<ToFloat<DType::float8_e3m4>>>)
BTF_PAIR(f32_e4m3ieee, cast_narrow<InVectors<ToFloat<DType::float8_e4m3>>>)
BTF_PAIR(f32_e4m3b11fnuz, cast_narrow<InVectors<ToFloat<DType::float8_e4m3b11fnuz>>>)

#undef BTF_PAIR

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

#define BTF_ROW(name, from, to) {from, to, BTF_SIMD_TABLE(name)}

constexpr auto kRows = std::to_array<CastRunsRow>({
    BTF_ROW(f32_e4m3, DType::float32, DType::float8_e4m3fn),
    BTF_ROW(f32_e5m2, DType::float32, DType::float8_e5m2),
    BTF_ROW(f32_e2m1, DType::float32, DType::float4_e2m1fn),
    BTF_ROW(f32_e4m3fnuz, DType::float32, DType::float8_e4m3fnuz),
    BTF_ROW(f32_e5m2fnuz, DType::float32, DType::float8_e5m2fnuz),
    BTF_ROW(f32_e3m4, DType::float32, DType::float8_e3m4),
    BTF_ROW(f32_e4m3ieee, DType::float32, DType::float8_e4m3),
    BTF_ROW(f32_e4m3b11fnuz, DType::float32, DType::float8_e4m3b11fnuz),
});

}  // namespace

std::span<const CastRunsRow> small_float_rows() { return kRows; }

}  // namespace btf
#endif
