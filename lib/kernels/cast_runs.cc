// One body per kind of pair, compiled for several instruction sets. The bodies are plain loops
// without branches: the compiler vectorises them, and the one chosen at run time is the widest.
#include "kernels/cast_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cast_from_float32.h"
#include "kernels/cpu_level.h"
#include "kernels/number.h"

namespace btf {
namespace {

using namespace cast_loop;

template <DType T>
constexpr const FloatGeometry& geometry() {
  return dtype_rows::kRows[row_of(T)].fp;
}

// float16 and bfloat16 to float32: exact; NaN loses its payload.
template <DType T>
BTF_INLINE void half_to_float32(const std::byte* source, std::byte* target, std::size_t count,
                                LossAccount& account) {
  constexpr const FloatGeometry& kFp = geometry<T>();
  constexpr unsigned kShift = 23U - kFp.mantissa_bits;
  constexpr std::uint32_t kSpecial = static_cast<std::uint32_t>(number::max_finite(kFp)) + 1;
  // Multiplying by a power of two rebiases the exponent and makes subnormals normal.
  const float rebias = std::bit_cast<float>(static_cast<std::uint32_t>(254 - kFp.bias) << 23);
  std::uint32_t nans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t code;
    std::memcpy(&code, source + i * sizeof(code), sizeof(code));
    const std::uint32_t magnitude = code & 0x7fffU;
    const auto sign = static_cast<std::uint32_t>(code & 0x8000U) << 16;
    const std::uint32_t wide = magnitude << kShift;
    const std::uint32_t finite =
        kFp.bias == 127 ? wide : std::bit_cast<std::uint32_t>(std::bit_cast<float>(wide) * rebias);
    const bool nan = magnitude > kSpecial;
    const std::uint32_t special = nan ? 0x7fc00000U : kInfinity32;
    const std::uint32_t bits = sign | (magnitude >= kSpecial ? special : finite);
    std::memcpy(target + i * sizeof(bits), &bits, sizeof(bits));
    nans += nan ? 1U : 0U;
  }
  account.elements += count;
  account.nan += nans;
}

#define BTF_PAIR(name, ...)                                                                 \
  BTF_INLINE void name(const std::byte* s, std::byte* t, std::size_t n, LossAccount& a) {   \
    __VA_ARGS__(s, t, n, a);                                                                \
  }                                                                                         \
  BTF_LEVELS(name, void, (const std::byte* s, std::byte* t, std::size_t n, LossAccount& a), \
             (s, t, n, a))
#define BTF_ROW(name, from, to) \
  { from, to, BTF_LEVEL_TABLE(name) }

BTF_PAIR(f32_f16, cast_chunks<Float32ToFloat<DType::float16>>)
BTF_PAIR(f32_bf16, cast_chunks<Float32ToBfloat16>)
BTF_PAIR(f32_e4m3, cast_chunks<Float32ToFloat<DType::float8_e4m3fn>>)
BTF_PAIR(f32_e5m2, cast_chunks<Float32ToFloat<DType::float8_e5m2>>)
BTF_PAIR(f32_e2m1, cast_chunks<Float32ToFloat<DType::float4_e2m1fn>>)
BTF_PAIR(f32_i4, cast_chunks<Float32ToInteger<DType::int4>>)
BTF_PAIR(f32_u4, cast_chunks<Float32ToInteger<DType::uint4>>)
BTF_PAIR(f32_i8, cast_chunks<Float32ToInteger<DType::int8>>)
BTF_PAIR(f32_u8, cast_chunks<Float32ToInteger<DType::uint8>>)
BTF_PAIR(f32_i16, cast_chunks<Float32ToInteger<DType::int16>>)
BTF_PAIR(f32_u16, cast_chunks<Float32ToInteger<DType::uint16>>)
BTF_PAIR(f32_i32, cast_chunks<Float32ToInteger<DType::int32>>)
BTF_PAIR(f16_f32, half_to_float32<DType::float16>)
BTF_PAIR(bf16_f32, half_to_float32<DType::bfloat16>)

struct Row {
  DType from;
  DType to;
  std::array<CastRunFn, kCpuLevels> run;
};

constexpr auto kRows = std::to_array<Row>({
    BTF_ROW(f32_f16, DType::float32, DType::float16),
    BTF_ROW(f32_bf16, DType::float32, DType::bfloat16),
    BTF_ROW(f32_e4m3, DType::float32, DType::float8_e4m3fn),
    BTF_ROW(f32_e5m2, DType::float32, DType::float8_e5m2),
    BTF_ROW(f32_e2m1, DType::float32, DType::float4_e2m1fn),
    BTF_ROW(f32_i4, DType::float32, DType::int4),
    BTF_ROW(f32_u4, DType::float32, DType::uint4),
    BTF_ROW(f32_i8, DType::float32, DType::int8),
    BTF_ROW(f32_u8, DType::float32, DType::uint8),
    BTF_ROW(f32_i16, DType::float32, DType::int16),
    BTF_ROW(f32_u16, DType::float32, DType::uint16),
    BTF_ROW(f32_i32, DType::float32, DType::int32),
    BTF_ROW(f16_f32, DType::float16, DType::float32),
    BTF_ROW(bf16_f32, DType::bfloat16, DType::float32),
});

}  // namespace

CastRunFn find_cast_run(DType from, DType to) {
  for (const Row& row : kRows)
    if (row.from == from && row.to == to) return row.run[cpu_level()];
  return nullptr;
}

}  // namespace btf
