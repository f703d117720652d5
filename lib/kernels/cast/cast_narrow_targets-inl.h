// Casts of float32 in vectors, one class for each kind of target: a block of elements at a
// time, each passed to a watcher.
#if defined(BTF_KERNELS_CAST_NARROW_TARGETS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_NARROW_TARGETS_INL_H
#undef BTF_KERNELS_CAST_NARROW_TARGETS_INL_H
#else
#define BTF_KERNELS_CAST_NARROW_TARGETS_INL_H
#endif

#include "kernels/cast/cast_from_float32.h"
#include "kernels/cast/cast_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

#if !BTF_CAST_VECTORS

template <DType T>
using ToFloat = Float32ToFloat<T>;
using ToFloat16 = Float32ToFloat<DType::float16>;
using ToBfloat16 = Float32ToBfloat16;
template <DType T>
using ToInteger = Float32ToInteger<T>;

#else

using Block = Ints[kVectors];
using ShortBlock = Shorts[kVectors / 2];

HWY_INLINE void shorten(const Block& codes, ShortBlock& shorts) {
  for (std::size_t v = 0; v < kVectors / 2; ++v)
    shorts[v] = hn::ReorderDemote2To(kShorts, codes[2 * v], codes[2 * v + 1]);
}

// Codes of 16 bits, of which `bits` are 0 in that of zero only.
template <typename Watcher>
HWY_INLINE void store_shorts(const ShortBlock& shorts, std::int16_t bits, std::byte* target,
                             bool stream, Watcher& watcher) {
  const hn::ScalableTag<std::int64_t> d;
  for (std::size_t v = 0; v < kVectors / 2; ++v) {
    const auto codes = in_order<2, std::int64_t>(shorts[v]);
    watcher.see_codes(2 * v * kLanes, kShorts, hn::BitCast(kShorts, codes), bits);
    put(codes, d, reinterpret_cast<std::int64_t*>(target + v * HWY_MAX_BYTES), stream);
  }
}

// The same for 8 bits or, truncated, 4 bits.
template <unsigned kBitsOfCode, bool kSigned, typename Watcher>
HWY_INLINE void store_bytes(const ShortBlock& shorts, std::int8_t bits, std::byte* target,
                            bool stream, Watcher& watcher) {
  Bytes bytes = hn::BitCast(kBytes, in_order<4, std::int32_t>(pack<kSigned>(shorts[0], shorts[1])));
  watcher.see_codes(0, kBytes, bytes, bits);
  if constexpr (kBitsOfCode == 4) bytes = hn::And(bytes, hn::Set(kBytes, 0xf));
  put(bytes, kBytes, reinterpret_cast<std::int8_t*>(target), stream);
}

template <DType T>
class ToFloat : public Float32ToFloat<T> {
  using Base = Float32ToFloat<T>;
  static constexpr auto kMagnitude =
      static_cast<std::make_signed_t<typename Base::Code>>(Base::kSignBit - 1);

 public:
  HWY_INLINE ToFloat() : largest_(hn::Zero(kBits)) {}
  static constexpr bool kClampsInVectors = Base::kClamps;

  template <bool kClamp, typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, bool stream, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v)
      codes[v] = one<kClamp>(v, hn::LoadU(kFloats, source + v * kLanes), watcher);
    ShortBlock shorts;
    shorten(codes, shorts);
    if constexpr (Base::kRow.bits > 8)
      store_shorts(shorts, kMagnitude, target, stream, watcher);
    else
      store_bytes<Base::kRow.bits, true>(shorts, kMagnitude, target, stream, watcher);
  }
  template <bool kClamp>
  HWY_INLINE bool clean(FloatBits max_error) const {
    if constexpr (kClamp) return max_error < Base::kExactError;
    return hn::GetLane(hn::MaxOfLanes(kBits, largest_)) < Base::kOver;
  }

 private:
  template <bool kClamp, typename Watcher>
  HWY_INLINE Ints one(std::size_t v, Floats value, Watcher& watcher) {
    const Floats whole = hn::Abs(value);
    Floats magnitude = whole;
    if constexpr (kClamp)
      magnitude = floats_of(hn::Min(bits_of(whole), hn::Set(kBits, Base::kCut)));
    else
      largest_ = hn::Max(largest_, bits_of(whole));
    const Bits binade = hn::And(hn::Max(bits_of(magnitude), hn::Set(kBits, Base::kMinNormal)),
                                hn::Set(kBits, kInfinity32));
    const Bits addend = hn::Add(hn::Add(binade, hn::ShiftRight<Base::kDrop>(binade)),
                                hn::Set(kBits, Base::kToAddend));
    const Floats sum = hn::Add(magnitude, floats_of(addend));
    const Floats rounded = hn::Sub(sum, floats_of(addend));
    if constexpr (kClamp)
      watcher.see(v, whole, whole, rounded, hn::Ne(whole, magnitude));
    else
      watcher.see(v, whole, whole, rounded);
    const Ints signs = hn::ShiftRight<31>(hn::BitCast(kInts, value));
    const Ints sign_bits = hn::Set(kInts, -static_cast<std::int32_t>(Base::kSignBit));
    const Ints code = hn::AndNot(sign_bits, hn::BitCast(kInts, sum));
    if constexpr (Base::kHasMinusZero) return hn::Or(hn::And(signs, sign_bits), code);
    return hn::Or(hn::IfThenElseZero(hn::Gt(code, hn::Zero(kInts)), hn::And(signs, sign_bits)),
                  code);
  }

  Bits largest_;
};

class ToBfloat16 : public Float32ToBfloat16 {
 public:
  static constexpr bool kClampsInVectors = false;

  template <bool, typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, bool stream, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const Bits odd = hn::And(hn::ShiftRight<16>(bits_of(value)), hn::Set(kBits, 1));
      const Bits rounded = hn::Add(hn::Add(bits_of(value), odd), hn::Set(kBits, 0x7fff));
      watcher.see(v, value, hn::Abs(value),
                  floats_of(hn::And(rounded, hn::Set(kBits, 0xffff0000U))));
      codes[v] = hn::ShiftRight<16>(hn::BitCast(kInts, rounded));
    }
    ShortBlock shorts;
    shorten(codes, shorts);
    store_shorts(shorts, 0x7fff, target, stream, watcher);
  }
  // Inf and NaN have the error NaN; numbers that become Inf have the error Inf.
  template <bool>
  HWY_INLINE bool clean(FloatBits max_error) const {
    return max_error < kInfinity32;
  }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// Uses instructions that round as the reference does.
class ToFloat16 : public Float32ToFloat<DType::float16> {
 public:
  static constexpr bool kClampsInVectors = false;

  template <bool, typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, bool stream, Watcher& watcher) {
    const hn::Rebind<hwy::float16_t, hn::ScalableTag<float>> halves;
    const hn::Half<hn::ScalableTag<std::int16_t>> half;
    const auto one = [&](std::size_t v) HWY_ATTR {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const auto code = hn::DemoteTo(halves, value);
      watcher.see(v, value, hn::Abs(value), hn::PromoteTo(kFloats, code));
      return hn::BitCast(half, code);
    };
    for (std::size_t v = 0; v < kVectors; v += 2) {
      const auto low = one(v);
      const Shorts codes = hn::Combine(kShorts, one(v + 1), low);
      watcher.see_codes(v * kLanes, kShorts, codes, 0x7fff);
      put(codes, kShorts, reinterpret_cast<std::int16_t*>(target) + v * kLanes, stream);
    }
  }
  // As for bfloat16.
  template <bool>
  HWY_INLINE bool clean(FloatBits max_error) const {
    return max_error < kInfinity32;
  }
};
#else
using ToFloat16 = ToFloat<DType::float16>;
#endif

// Rounds toward zero. A number beyond int32 becomes one that no narrower type can represent; NaN
// becomes 0 on some CPUs.
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
  static constexpr bool kUint32 = kWidth == 32 && !Base::kSigned;

 public:
  // The errors of numbers beyond int32 are not floats. A uint32 is treated as an int32: numbers
  // from 2^31 on are cast by loops, and the errors of those below 0 are floats.
  static constexpr bool kClampsInVectors = kWidth < 32 || kUint32;

  HWY_INLINE ToInteger() {}
  template <bool kClamp, typename Watcher>
  HWY_INLINE void block(const float* source, std::byte* target, bool stream, Watcher& watcher) {
    Block codes;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Floats value = hn::LoadU(kFloats, source + v * kLanes);
      const Floats magnitude = hn::Abs(value);
      const Ints whole = truncate(value);
      codes[v] = kClamp ? clamped(whole) : whole;
      const Floats rounded = hn::ConvertTo(kFloats, codes[v]);
      if constexpr (kClamp)
        watcher.see(v, value, magnitude, rounded, hn::RebindMask(kFloats, hn::Ne(codes[v], whole)));
      else
        watcher.see(v, value, magnitude, rounded);
      if constexpr (kWidth == 32) range_.see(hn::BitCast(kInts, kUint32 ? value : magnitude));
      if constexpr (kWidth == 16 && !kClamp) range_.see(codes[v]);
      if constexpr (kWidth == 16 && !Base::kSigned)
        codes[v] = hn::ShiftRight<16>(hn::ShiftLeft<16>(codes[v]));
      if constexpr (kWidth == 32) {
        watcher.see_codes(v * kLanes, kInts, codes[v], -1);
        put(codes[v], kInts, reinterpret_cast<std::int32_t*>(target) + v * kLanes, stream);
      }
    }
    if constexpr (kWidth == 32) return;
    ShortBlock shorts;
    shorten(codes, shorts);
    if constexpr (kWidth == 16) return store_shorts(shorts, -1, target, stream, watcher);
    // Numbers beyond int16 have become its largest or least one.
    if constexpr (kWidth <= 8 && !kClamp)
      for (const Shorts& some : shorts) range_.see(some);
    store_bytes<kWidth, Base::kSigned>(shorts, -1, target, stream, watcher);
  }
  // NaN has the error NaN.
  template <bool kClamp>
  HWY_INLINE bool clean(FloatBits max_error) const {
    constexpr std::int32_t kMin = kClamp ? std::numeric_limits<std::int32_t>::min() : 0;
    if constexpr (kClamp && !kUint32)
      return max_error < Base::kExactError;
    else if constexpr (kWidth == 32)
      return range_.within(kMin, std::bit_cast<std::int32_t>(0x1p31F) - 1) &&
             (!kClamp || max_error < Base::kExactError);
    else
      return max_error < kInfinity32 &&
             range_.within(static_cast<std::int32_t>(Base::kMinCode), Base::kMaxCode);
  }

 private:
  HWY_INLINE static Ints clamped(Ints whole) {
    if constexpr (kUint32) return hn::Max(whole, hn::Zero(kInts));
    const Ints low = hn::Set(kInts, static_cast<std::int32_t>(Base::kMinCode));
    return hn::Min(hn::Max(whole, low), hn::Set(kInts, static_cast<std::int32_t>(Base::kMaxCode)));
  }

  Range<hn::ScalableTag<std::conditional_t<(kWidth <= 8), std::int16_t, std::int32_t>>> range_;
};

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
