#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/simd_targets.h"
#include "kernels/number/widen.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/number/widen_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<double> kDoubles;
const hn::Rebind<float, hn::ScalableTag<double>> kFloats;
const hn::Rebind<std::int32_t, hn::ScalableTag<double>> kInts;
const hn::Rebind<std::uint32_t, hn::ScalableTag<double>> kBits;

using Floats = hn::Vec<hn::Rebind<float, hn::ScalableTag<double>>>;
using Ints = hn::Vec<hn::Rebind<std::int32_t, hn::ScalableTag<double>>>;
using Bits = hn::Vec<hn::Rebind<std::uint32_t, hn::ScalableTag<double>>>;

template <typename T>
const hn::Rebind<T, hn::ScalableTag<double>> kTag;

// Converts float16 codes in the low halves. Subnormal numbers are normal as float32: their mantissa
// gets the exponent of the least normal number, and then that number is subtracted.
[[maybe_unused]] HWY_INLINE Floats from_float16(Bits codes) {
  const Bits magnitude = hn::And(codes, hn::Set(kBits, 0x7fffU));
  const Bits wide = hn::ShiftLeft<13>(magnitude);
  const Bits normal = hn::Add(wide, hn::Set(kBits, 112U << 23));
  const Bits least = hn::Set(kBits, 113U << 23);
  const Bits small = hn::BitCast(
      kBits, hn::Sub(hn::BitCast(kFloats, hn::Add(wide, least)), hn::BitCast(kFloats, least)));
  const Bits special = hn::Or(wide, hn::Set(kBits, 0x7f800000U));
  // As signed integers, which every instruction set compares.
  const Ints size = hn::BitCast(kInts, magnitude);
  const auto is_small = hn::RebindMask(kBits, hn::Lt(size, hn::Set(kInts, 0x0400)));
  const auto is_special = hn::RebindMask(kBits, hn::Gt(size, hn::Set(kInts, 0x7bff)));
  const Bits value = hn::IfThenElse(is_special, special, hn::IfThenElse(is_small, small, normal));
  const Bits sign = hn::ShiftLeft<16>(hn::Xor(codes, magnitude));
  return hn::BitCast(kFloats, hn::Or(value, sign));
}

// Calls widen(source) for whole vectors; the last one is padded with zeros.
template <typename T, typename Widen>
HWY_INLINE void by_vectors(const std::byte* source, std::size_t count, double* out, Widen&& widen) {
  constexpr std::size_t kLanes = hn::MaxLanes(kDoubles);
  const auto* from = reinterpret_cast<const T*>(source);
  std::size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) hn::StoreU(widen(from + i), kDoubles, out + i);
  if (i == count) return;
  HWY_ALIGN std::array<T, kLanes> rest{};
  HWY_ALIGN std::array<double, kLanes> last;
  std::memcpy(rest.data(), from + i, (count - i) * sizeof(T));
  hn::StoreU(widen(rest.data()), kDoubles, last.data());
  std::copy_n(last.data(), count - i, out + i);
}

template <typename T>
HWY_INLINE void widen_native(const std::byte* source, std::size_t count, double* out) {
  by_vectors<T>(source, count, out, [](const T* from) HWY_ATTR {
    const auto values = hn::LoadU(kTag<T>, from);
    if constexpr (sizeof(T) == 8)
      return hn::ConvertTo(kDoubles, values);
    else if constexpr (sizeof(T) == 4)
      return hn::PromoteTo(kDoubles, values);
    else
      return hn::PromoteTo(kDoubles, hn::PromoteTo(kInts, values));
  });
}

void from_int8(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::int8_t>(source, count, out);
}
void from_uint8(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::uint8_t>(source, count, out);
}
void from_int16(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::int16_t>(source, count, out);
}
void from_uint16(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::uint16_t>(source, count, out);
}
void from_int32(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::int32_t>(source, count, out);
}
void from_int64(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::int64_t>(source, count, out);
}
void from_uint64(const std::byte* source, std::size_t count, double* out) {
  widen_native<std::uint64_t>(source, count, out);
}
void from_uint32(const std::byte* source, std::size_t count, double* out) {
  // 2^52 with the integer in its last digits, minus 2^52.
  const hn::RebindToUnsigned<decltype(kDoubles)> words;
  by_vectors<std::uint32_t>(source, count, out, [&](const std::uint32_t* from) HWY_ATTR {
    const auto low = hn::PromoteTo(words, hn::LoadU(kBits, from));
    const auto base = hn::Set(kDoubles, 0x1p52);
    return hn::Sub(hn::BitCast(kDoubles, hn::Or(low, hn::BitCast(words, base))), base);
  });
}
void from_float32(const std::byte* source, std::size_t count, double* out) {
  widen_native<float>(source, count, out);
}
void from_float16(const std::byte* source, std::size_t count, double* out) {
  by_vectors<std::uint16_t>(source, count, out, [](const std::uint16_t* from) HWY_ATTR {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // these have an instruction for it
    const auto* const halves = reinterpret_cast<const hwy::float16_t*>(from);
    const Floats values = hn::PromoteTo(kFloats, hn::LoadU(kTag<hwy::float16_t>, halves));
#else
    const Floats values =
        from_float16(hn::PromoteTo(kBits, hn::LoadU(kTag<std::uint16_t>, from)));
#endif
    return hn::PromoteTo(kDoubles, values);
  });
}
void from_bfloat16(const std::byte* source, std::size_t count, double* out) {
  by_vectors<std::uint16_t>(source, count, out, [](const std::uint16_t* from) HWY_ATTR {
    const Bits codes = hn::PromoteTo(kBits, hn::LoadU(kTag<std::uint16_t>, from));
    return hn::PromoteTo(kDoubles, hn::BitCast(kFloats, hn::ShiftLeft<16>(codes)));
  });
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

struct Row {
  DType dtype;
  std::array<WidenRunFn, kCpuLevels> run;
};

constexpr auto kRows = std::to_array<Row>({
    {DType::int8, BTF_SIMD_TABLE(from_int8)},
    {DType::uint8, BTF_SIMD_TABLE(from_uint8)},
    {DType::int16, BTF_SIMD_TABLE(from_int16)},
    {DType::uint16, BTF_SIMD_TABLE(from_uint16)},
    {DType::int32, BTF_SIMD_TABLE(from_int32)},
    {DType::uint32, BTF_SIMD_TABLE(from_uint32)},
    {DType::int64, BTF_SIMD_TABLE(from_int64)},
    {DType::uint64, BTF_SIMD_TABLE(from_uint64)},
    {DType::float32, BTF_SIMD_TABLE(from_float32)},
    {DType::float16, BTF_SIMD_TABLE(from_float16)},
    {DType::bfloat16, BTF_SIMD_TABLE(from_bfloat16)},
});

}  // namespace

WidenRunFn find_widen_run(DType dtype) {
  const auto* const row = std::ranges::find(kRows, dtype, &Row::dtype);
  return row == kRows.end() ? nullptr : row->run[cpu_level()];
}

}  // namespace btf
#endif
