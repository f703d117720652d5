#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/stats/stats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/nonzero_bits.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Has the width of a vector's mask: a wider load would have to wait for the store.
template <std::size_t kLanes>
using MaskWord = std::conditional_t<
    kLanes <= 8, std::uint8_t,
    std::conditional_t<kLanes == 16, std::uint16_t,
                       std::conditional_t<kLanes == 32, std::uint32_t, std::uint64_t>>>;

template <typename Code>
HWY_INLINE std::uint64_t word_of(const Code* codes) {
  const hn::CappedTag<Code, 64> tag;
  constexpr std::size_t kWidth = hn::MaxLanes(tag);
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < 64; at += kWidth) {
    std::array<std::uint8_t, 8> mask{};
    const auto nonzero = hn::Ne(hn::LoadU(tag, codes + at), hn::Zero(tag));
#if HWY_TARGET == HWY_AVX2
    // Otherwise Highway would extract every other bit, which is microcode on Zen 2 and older.
    if constexpr (sizeof(Code) == 2) {
      const hn::RebindToSigned<decltype(tag)> wide;
      const hn::Rebind<std::int8_t, decltype(tag)> narrow;
      const auto lanes = hn::BitCast(wide, hn::VecFromMask(tag, nonzero));
      hn::StoreMaskBits(narrow, hn::MaskFromVec(hn::DemoteTo(narrow, lanes)), mask.data());
    } else {
      hn::StoreMaskBits(tag, nonzero, mask.data());
    }
#else
    hn::StoreMaskBits(tag, nonzero, mask.data());
#endif
    MaskWord<kWidth> some = 0;
    std::memcpy(&some, mask.data(), sizeof(some));
    word |= std::uint64_t{some} << at;
  }
  return word;
}

template <typename Code>
HWY_INLINE std::uint64_t bits_of(const std::byte* bytes, std::uint64_t count, std::uint64_t* bits) {
  const auto* const codes = reinterpret_cast<const Code*>(bytes);
  std::uint64_t set = 0;
  std::uint64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    bits[i / 64] = word_of(codes + i);
    set += static_cast<std::uint64_t>(std::popcount(bits[i / 64]));
  }
  if (i == count) return set;
  std::array<Code, 64> rest{};
  std::memcpy(rest.data(), codes + i, (count - i) * sizeof(Code));
  bits[i / 64] = word_of(rest.data());
  return set + static_cast<std::uint64_t>(std::popcount(bits[i / 64]));
}

std::uint64_t nonzero_run(const std::byte* codes, std::uint64_t code_bytes, std::uint64_t count,
                          std::uint64_t* bits) {
  if (code_bytes == 1) return bits_of<std::uint8_t>(codes, count, bits);
  if (code_bytes == 2) return bits_of<std::uint16_t>(codes, count, bits);
  if (code_bytes == 4) return bits_of<std::uint32_t>(codes, count, bits);
  return bits_of<std::uint64_t>(codes, count, bits);
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

std::uint64_t nonzero_bits(const std::byte* codes, std::uint64_t code_bytes, std::uint64_t count,
                           std::uint64_t* bits) {
  return BTF_SIMD_CALL(nonzero_run)(codes, code_bytes, count, bits);
}

}  // namespace btf
#endif
