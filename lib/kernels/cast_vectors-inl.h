// float32 to types that cannot hold all of its values, where all numbers are finite and within the
// target's range: explicit vectors, for every instruction set. Other chunks, and those that may
// have a new largest relative error, are left to the loops of cast_from_float32.h.
#if defined(BTF_KERNELS_CAST_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_VECTORS_INL_H
#undef BTF_KERNELS_CAST_VECTORS_INL_H
#else
#define BTF_KERNELS_CAST_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "kernels/cast_from_float32.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// Without vectors of its own, the compiler's are better.
template <typename Body>
using InVectors = Body;
template <DType T>
using ToFloat = Float32ToFloat<T>;
using ToFloat16 = Float32ToFloat<DType::float16>;
using ToBfloat16 = Float32ToBfloat16;
template <DType T>
using ToInteger = Float32ToInteger<T>;

#else

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
// Vectors that are cast together: as many as 8-bit codes of fill one.
constexpr std::size_t kVectors = 4;
constexpr std::size_t kBlock = kVectors * kLanes;

HWY_INLINE Bits bits_of(Floats values) { return hn::BitCast(kBits, values); }
HWY_INLINE Floats floats_of(Bits bits) { return hn::BitCast(kFloats, bits); }

// How often a comparison was true.
class Counter {
 public:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  HWY_INLINE Counter() : count_(0) {}
#else
  HWY_INLINE Counter() : count_(hn::Zero(kBits)) {}
#endif
  HWY_INLINE void add(hn::Mask<hn::ScalableTag<float>> mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    count_ += static_cast<std::uint32_t>(hn::CountTrue(kFloats, mask));
#else
    count_ = hn::Sub(count_, bits_of(hn::VecFromMask(kFloats, mask)));
#endif
  }
  HWY_INLINE std::uint32_t total() const {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    return count_;
#else
    return hn::GetLane(hn::SumOfLanes(kBits, count_));
#endif
  }

 private:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  std::uint32_t count_;
#else
  Bits count_;
#endif
};

// What the account needs of a chunk.
template <Watch kWatch>
class Watcher {
 public:
  explicit HWY_INLINE Watcher(float bar)
      : bar_(hn::Set(kFloats, bar)), largest_(hn::Zero(kBits)), record_(hn::Zero(kBits)) {}

  // `rounded` is what the target holds of `value`, both perhaps without their sign.
  template <std::uint32_t kMostToZero>
  HWY_INLINE void see(Floats value, Floats magnitude, Floats rounded) {
    if constexpr (kWatch == Watch::nothing) return;
    const Floats error = hn::Abs(hn::Sub(rounded, value));
    largest_ = hn::Max(largest_, bits_of(error));
    const auto changed = hn::Ne(error, hn::Zero(kFloats));
    changed_.add(changed);
    if constexpr (kWatch == Watch::zeros) {
      const auto few = hn::Le(magnitude, floats_of(hn::Set(kBits, kMostToZero)));
      to_zero_.add(hn::And(changed, few));
    } else {
      record_ = hn::Or(record_, below(error, magnitude));
    }
  }

  HWY_INLINE Tally tally() const {
    return {.changed = changed_.total(),
            .to_zero = to_zero_.total(),
            .max_error = hn::GetLane(hn::MaxOfLanes(kBits, largest_)),
            .record = !hn::AllFalse(kInts, hn::Lt(hn::BitCast(kInts, record_), hn::Zero(kInts)))};
  }

 private:
  // Its top bit is set if the error is larger than the bar allows.
  HWY_INLINE Bits below(Floats error, Floats magnitude) const {
#if HWY_NATIVE_FMA
    return bits_of(hn::MulSub(bar_, magnitude, error));
#else
    // A subnormal product may have been rounded up to the error itself.
    const Bits e = bits_of(error);
    const Bits room = hn::Sub(bits_of(hn::Mul(bar_, magnitude)), e);
    return hn::And(hn::Sub(room, hn::Set(kBits, 1)), hn::Sub(hn::Zero(kBits), e));
#endif
  }

  Floats bar_;
  Bits largest_;
  Bits record_;
  Counter changed_;
  Counter to_zero_;
};

// Packs numbers that fit; 16-byte pieces of both vectors take turns where an instruction works on
// such pieces.
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

// The order of kFrom vectors' pieces of 16 / kFrom bytes that pack() has mixed.
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

using Block = Ints[kVectors];
using ShortBlock = Shorts[kVectors / 2];

HWY_INLINE void shorten(const Block& codes, ShortBlock& shorts) {
  for (std::size_t v = 0; v < kVectors / 2; ++v)
    shorts[v] = hn::ReorderDemote2To(kShorts, codes[2 * v], codes[2 * v + 1]);
}

HWY_INLINE void store_shorts(const ShortBlock& shorts, std::byte* target) {
  for (std::size_t v = 0; v < kVectors / 2; ++v)
    hn::StoreU(in_order<2, std::int64_t>(shorts[v]), hn::ScalableTag<std::int64_t>(),
               reinterpret_cast<std::int64_t*>(target + v * HWY_MAX_BYTES));
}

// Codes of 4 bits are cut off.
template <unsigned kBitsOfCode, bool kSigned>
HWY_INLINE void store_bytes(const ShortBlock& shorts, std::byte* target) {
  Bytes bytes = pack<kSigned>(shorts[0], shorts[1]);
  if constexpr (kBitsOfCode == 4) bytes = hn::And(bytes, hn::Set(kBytes, 0xf));
  hn::StoreU(in_order<4, std::int32_t>(bytes), kInts, reinterpret_cast<std::int32_t*>(target));
}

template <DType T>
class ToFloat : public Float32ToFloat<T> {
  using Base = Float32ToFloat<T>;

 public:
  HWY_INLINE ToFloat() : largest_(hn::Zero(kBits)) {}
  template <typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v)
      codes[v] = one(hn::LoadU(kFloats, source + v * kLanes), watcher);
    ShortBlock shorts;
    shorten(codes, shorts);
    if constexpr (Base::kRow.bits > 8)
      store_shorts(shorts, target);
    else
      store_bytes<Base::kRow.bits, true>(shorts, target);
  }
  HWY_INLINE bool clean(FloatBits) const {
    return hn::GetLane(hn::MaxOfLanes(kBits, largest_)) < Base::kOver;
  }

 private:
  template <typename Watcher>
  HWY_INLINE Ints one(Floats value, Watcher& watcher) {
    const Floats magnitude = hn::Abs(value);
    largest_ = hn::Max(largest_, bits_of(magnitude));
    const Bits binade = hn::And(hn::Max(bits_of(magnitude), hn::Set(kBits, Base::kLeastNormal)),
                                hn::Set(kBits, kInfinity32));
    const Bits addend = hn::Add(hn::Add(binade, hn::ShiftRight<Base::kDrop>(binade)),
                                hn::Set(kBits, Base::kToAddend));
    const Floats sum = hn::Add(magnitude, floats_of(addend));
    watcher.template see<Base::kMostToZero>(magnitude, magnitude, hn::Sub(sum, floats_of(addend)));
    const Ints signs = hn::ShiftRight<31>(hn::BitCast(kInts, value));
    const Ints sign_bits = hn::Set(kInts, -static_cast<std::int32_t>(Base::kSignBit));
    return hn::Or(hn::And(signs, sign_bits), hn::AndNot(sign_bits, hn::BitCast(kInts, sum)));
  }

  Bits largest_;
};

class ToBfloat16 : public Float32ToBfloat16 {
 public:
  template <typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const Bits odd = hn::And(hn::ShiftRight<16>(bits_of(value)), hn::Set(kBits, 1));
      const Bits rounded = hn::Add(hn::Add(bits_of(value), odd), hn::Set(kBits, 0x7fff));
      watcher.template see<kMostToZero>(value, hn::Abs(value),
                                        floats_of(hn::And(rounded, hn::Set(kBits, 0xffff0000U))));
      codes[v] = hn::ShiftRight<16>(hn::BitCast(kInts, rounded));
    }
    ShortBlock shorts;
    shorten(codes, shorts);
    store_shorts(shorts, target);
  }
  // Inf and NaN have the error NaN, what becomes Inf has the error Inf.
  HWY_INLINE bool clean(FloatBits max_error) const { return max_error < kInfinity32; }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// By instructions that round as the reference does.
class ToFloat16 : public Float32ToFloat<DType::float16> {
 public:
  template <typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, Watcher& watcher) {
    const hn::Rebind<hwy::float16_t, hn::ScalableTag<float>> halves;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const auto code = hn::DemoteTo(halves, value);
      hn::StoreU(code, halves, reinterpret_cast<hwy::float16_t*>(target) + v * kLanes);
      watcher.template see<kMostToZero>(value, hn::Abs(value), hn::PromoteTo(kFloats, code));
    }
  }
  // As of bfloat16.
  HWY_INLINE bool clean(FloatBits max_error) const { return max_error < kInfinity32; }
};
#else
using ToFloat16 = ToFloat<DType::float16>;
#endif

// Toward zero. What an int32 cannot hold becomes its least number, which is within no range.
HWY_INLINE Ints truncate(Floats values) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return Ints{_mm512_cvttps_epi32(values.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  return Ints{_mm256_cvttps_epi32(values.raw)};
#elif HWY_ARCH_X86
  return Ints{_mm_cvttps_epi32(values.raw)};
#else
  return hn::ConvertTo(kInts, values);
#endif
}

template <typename Tag>
class Range {
 public:
  HWY_INLINE Range() : least_(hn::Zero(Tag())), most_(hn::Zero(Tag())) {}
  HWY_INLINE void see(hn::Vec<Tag> values) {
    least_ = hn::Min(least_, values);
    most_ = hn::Max(most_, values);
  }
  HWY_INLINE bool within(std::int64_t low, std::int64_t high) const {
    return hn::GetLane(hn::MinOfLanes(Tag(), least_)) >= low &&
           hn::GetLane(hn::MaxOfLanes(Tag(), most_)) <= high;
  }

 private:
  hn::Vec<Tag> least_;
  hn::Vec<Tag> most_;
};

template <DType T>
class ToInteger : public Float32ToInteger<T> {
  using Base = Float32ToInteger<T>;
  static constexpr unsigned kWidth = Base::kRow.bits;

 public:
  HWY_INLINE ToInteger() {}
  template <typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const Floats magnitude = hn::Abs(value);
      codes[v] = truncate(value);
      watcher.template see<Base::kMostToZero>(value, magnitude, hn::ConvertTo(kFloats, codes[v]));
      if constexpr (kWidth == 32) range_.see(hn::BitCast(kInts, magnitude));
      if constexpr (kWidth == 16) range_.see(codes[v]);
      if constexpr (kWidth == 16 && !Base::kSigned)
        codes[v] = hn::ShiftRight<16>(hn::ShiftLeft<16>(codes[v]));
      if constexpr (kWidth == 32)
        hn::StoreU(codes[v], kInts, reinterpret_cast<std::int32_t*>(target) + v * kLanes);
    }
    if constexpr (kWidth == 32) return;
    ShortBlock shorts;
    shorten(codes, shorts);
    if constexpr (kWidth == 16) return store_shorts(shorts, target);
    // Numbers that an int16 cannot hold have become its largest or least one.
    if constexpr (kWidth <= 8)
      for (const Shorts& some : shorts) range_.see(some);
    store_bytes<kWidth, Base::kSigned>(shorts, target);
  }
  HWY_INLINE bool clean(FloatBits) const {
    if constexpr (kWidth == 32)
      return range_.within(0, std::bit_cast<std::int32_t>(Base::kAbove) - 1);
    else
      return range_.within(static_cast<std::int32_t>(Base::kMinCode), Base::kMaxCode);
  }

 private:
  Range<hn::ScalableTag<std::conditional_t<(kWidth <= 8), std::int16_t, std::int32_t>>> range_;
};

// What cast_chunks() wants, of one of the classes above.
template <typename Casts>
struct InVectors : Casts {
  static constexpr bool kInVectors = true;

  // False if the chunk must be cast by loop().
  template <Watch kWatch>
  HWY_INLINE static bool vectors(Chunk chunk, float bar, Tally& tally) {
    Casts casts;
    Watcher<kWatch> watcher(bar);
    const auto* source = reinterpret_cast<const float*>(chunk.source);
    std::size_t i = 0;
    for (; chunk.count - i >= kBlock; i += kBlock)
      casts.block(source + i, chunk.target + i * Casts::kTargetBytes, watcher);
    if (i < chunk.count) {
      // Zeros change nothing.
      HWY_ALIGN std::array<float, kBlock> in{};
      HWY_ALIGN std::array<std::byte, kBlock * Casts::kTargetBytes> out;
      std::memcpy(in.data(), source + i, (chunk.count - i) * sizeof(float));
      casts.block(in.data(), out.data(), watcher);
      std::memcpy(chunk.target + i * Casts::kTargetBytes, out.data(),
                  (chunk.count - i) * Casts::kTargetBytes);
    }
    tally = watcher.tally();
    return casts.clean(tally.max_error);
  }
};

#endif

// Body::loop<kWatch>(chunk, bar, errors): casts anything. Body::kMostToZero: the largest magnitude
// that becomes zero. Body::kHasNan, kClamps, kLow, kHigh: what becomes of NaN, and of numbers
// beyond [kLow, kHigh]. Body::vectors<kWatch>(chunk, bar, tally), if Body::kInVectors: faster, and
// false if there is more in the chunk than finite numbers within the range.
template <typename Body, Watch kWatch>
HWY_INLINE bool cast_clean(Chunk chunk, float bar, Tally& tally) {
  if constexpr (Body::kInVectors)
    return Body::template vectors<kWatch>(chunk, bar, tally);
  else
    return false;
}

// `clean`: was the chunk before?
template <typename Body>
HWY_INLINE void cast_chunk(Chunk chunk, bool& clean, LossAccount& account) {
  // No error is larger than the number itself, for 0 would be nearer.
  const bool settled = account.max_rel >= 1;
  const float bar = relative_bar(account.max_rel);
  Tally tally;
  if (clean)
    clean = settled ? cast_clean<Body, Watch::zeros>(chunk, bar, tally)
                    : cast_clean<Body, Watch::relative>(chunk, bar, tally);
  const bool counted = clean && settled;
  if (!clean) {
    tally = Body::template loop<Watch::relative>(chunk, bar, nullptr);
    clean = tally.nan + tally.overflowed == 0;
  }
  // What becomes zero has an error above every bar.
  if (!counted && tally.record) tally.to_zero = count_to_zero(chunk, Body::kMostToZero);
  account.elements += chunk.count;
  account.nan += tally.nan;
  account.nan_lost += Body::kHasNan ? 0 : tally.nan;
  account.overflowed += tally.overflowed;
  account.to_zero += tally.to_zero;
  account.inexact += tally.changed - tally.to_zero;
  account.max_abs = std::max(account.max_abs, as_double(tally.max_error));
  if (tally.to_zero > 0) account.max_rel = std::max(account.max_rel, 1.0);
  if (tally.record && account.max_rel < 1) {
    Errors errors;
    Body::template loop<Watch::each>(chunk, bar, &errors);
    settle_quotients(errors, chunk.count, account);
  }
  if (Body::kClamps && tally.overflowed > 0)
    settle_clamped(chunk, Body::kLow, Body::kHigh, account);
}

// Without an account a cast is a benchmark's measure of what the account costs.
template <typename Body, bool kAccount = true>
HWY_INLINE void cast_chunks(const std::byte* source, std::byte* target, std::size_t count,
                            LossAccount& account) {
  bool clean = true;
  for (std::size_t at = 0; at < count; at += kChunk) {
    const Chunk chunk = chunk_at<Body>(source, target, at, count);
    Tally tally;
    if constexpr (kAccount)
      cast_chunk<Body>(chunk, clean, account);
    else if (!cast_clean<Body, Watch::nothing>(chunk, 0, tally))
      Body::template loop<Watch::nothing>(chunk, 0, nullptr);
  }
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
