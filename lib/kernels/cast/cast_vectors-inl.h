// Explicit vectors for casts, which the bodies of cast_narrow-inl.h and cast_runs.cc share.
#if defined(BTF_KERNELS_CAST_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_VECTORS_INL_H
#undef BTF_KERNELS_CAST_VECTORS_INL_H
#else
#define BTF_KERNELS_CAST_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "kernels/cast/cast_loop.h"
#include "kernels/move/move.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

// Calls cast(chunk) for all, and counts the elements.
template <typename Body, typename Do>
HWY_INLINE void each_chunk(const CastRuns& work, LossAccount& account, Do&& cast) {
  account.elements += work.runs * work.count;
  for (std::size_t run = 0; run < work.runs; ++run)
    for (std::size_t at = 0; at < work.count; at += kChunk) cast(chunk_at<Body>(work, run, at));
}

// Without a vector instruction set, the compiler's own vectors are better.
#undef BTF_CAST_VECTORS
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define BTF_CAST_VECTORS 0
#else
#define BTF_CAST_VECTORS 1

const hn::ScalableTag<float> kFloats;
const hn::ScalableTag<std::uint32_t> kBits;
const hn::ScalableTag<std::int32_t> kInts;
const hn::ScalableTag<std::int16_t> kShorts;
const hn::ScalableTag<std::int8_t> kBytes;

using Floats = hn::Vec<hn::ScalableTag<float>>;
using Bits = hn::Vec<hn::ScalableTag<std::uint32_t>>;
using Ints = hn::Vec<hn::ScalableTag<std::int32_t>>;
using Shorts = hn::Vec<hn::ScalableTag<std::int16_t>>;
using Bytes = hn::Vec<hn::ScalableTag<std::int8_t>>;

constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(float);
// Vectors that are cast at a time: the number whose 8-bit codes fill one vector.
constexpr std::size_t kVectors = 4;
constexpr std::size_t kBlock = kVectors * kLanes;

HWY_INLINE Bits bits_of(Floats values) { return hn::BitCast(kBits, values); }
HWY_INLINE Floats floats_of(Bits bits) { return hn::BitCast(kFloats, bits); }

template <typename D, typename M>
HWY_INLINE std::uint64_t bits_of_mask(D d, M mask) {
  std::uint64_t bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

// Not by CountTrue(): short of registers, g++ 12 stores a mask's 16 bits and counts 64.
template <typename D, typename M>
HWY_INLINE std::uint32_t count_of(D d, M mask) {
#if HWY_TARGET == HWY_AVX2
  // As bytes: for 16 bits Highway would extract every other bit, which is microcode on Zen 2 and
  // older.
  if constexpr (sizeof(hn::TFromD<D>) == 2) {
    const hn::Repartition<std::uint8_t, D> bytes;
    const auto halves = hn::MaskFromVec(hn::BitCast(bytes, hn::VecFromMask(d, mask)));
    return static_cast<std::uint32_t>(hwy::PopCount(bits_of_mask(bytes, halves)) / 2);
  }
#endif
  return static_cast<std::uint32_t>(hwy::PopCount(bits_of_mask(d, mask)));
}

// The number of lanes that have none of these bits.
template <typename D, typename V>
HWY_INLINE std::uint32_t without(D d, V values, hn::TFromD<D> bits) {
  return count_of(d, hn::Eq(hn::And(values, hn::Set(d, bits)), hn::Zero(d)));
}

// Packs numbers that fit. If an instruction works on pieces of 16 bytes, those of the two vectors
// alternate in the result.
template <bool kSigned>
HWY_INLINE Bytes pack(Shorts a, Shorts b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return Bytes{kSigned ? _mm512_packs_epi16(a.raw, b.raw) : _mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  return Bytes{kSigned ? _mm256_packs_epi16(a.raw, b.raw) : _mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return Bytes{kSigned ? _mm_packs_epi16(a.raw, b.raw) : _mm_packus_epi16(a.raw, b.raw)};
#else
  using Code = std::conditional_t<kSigned, std::int8_t, std::uint8_t>;
  const hn::Half<hn::ScalableTag<Code>> half;
  return hn::BitCast(
      kBytes, hn::Combine(hn::ScalableTag<Code>(), hn::DemoteTo(half, b), hn::DemoteTo(half, a)));
#endif
}

// Restores the order of the pieces of 16 / kFrom bytes of kFrom vectors after pack().
template <std::size_t kFrom, typename T, typename V>
HWY_INLINE auto in_order(V packed) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kBlocks = HWY_MAX_BYTES / 16;
  if constexpr (kBlocks == 1) {
    return hn::BitCast(d, packed);
  } else {
    HWY_ALIGN static constexpr auto kIndex = [] {
      std::array<T, kFrom * kBlocks> index{};
      for (std::size_t v = 0; v < kFrom; ++v)
        for (std::size_t b = 0; b < kBlocks; ++b)
          index[v * kBlocks + b] = static_cast<T>(b * kFrom + v);
      return index;
    }();
    return hn::TableLookupLanes(hn::BitCast(d, packed), hn::SetTableIndices(d, kIndex.data()));
  }
}

// With `stream`, the address must be aligned to vectors.
template <typename D, typename V>
HWY_INLINE void put(V values, D d, hn::TFromD<D>* target, bool stream) {
  if (stream)
    hn::Stream(values, d, target);
  else
    hn::StoreU(values, d, target);
}

// Calls cast(source, target, stream) for blocks of that size; the last one is padded with zeros,
// which lose nothing. Returns the number of padding elements.
template <std::size_t kElements, typename Source, typename Target, typename Cast>
HWY_INLINE std::uint32_t by_blocks(Chunk chunk, Cast&& cast) {
  const auto* source = reinterpret_cast<const Source*>(chunk.source);
  auto* target = reinterpret_cast<Target*>(chunk.target);
  std::size_t i = 0;
  for (; chunk.count - i >= kElements; i += kElements) {
    fetch_ahead<kElements * sizeof(Source)>(chunk, i * sizeof(Source));
    cast(source + i, target + i, chunk.stream);
  }
  const std::size_t rest = chunk.count - i;
  if (rest == 0) return 0;
  fetch_ahead<kElements * sizeof(Source)>(chunk, i * sizeof(Source));
  HWY_ALIGN std::array<Source, kElements> in{};
  HWY_ALIGN std::array<Target, kElements> out;
  copy_bytes(source + i, in.data(), rest * sizeof(Source));
  cast(in.data(), out.data(), false);
  copy_bytes(out.data(), target + i, rest * sizeof(Target));
  return static_cast<std::uint32_t>(kElements - rest);
}

#endif  // BTF_CAST_VECTORS

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
