// float32 to types that cannot hold all of its values. Chunks of finite numbers go by explicit
// vectors, which clamp only where a chunk has numbers beyond the range; the others, and those that
// may have a new largest relative error, by the loops of cast_from_float32.h.
#if defined(BTF_KERNELS_CAST_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_NARROW_INL_H
#undef BTF_KERNELS_CAST_NARROW_INL_H
#else
#define BTF_KERNELS_CAST_NARROW_INL_H
#endif

#include <span>

#include "kernels/cast/cast_from_float32.h"
#include "kernels/cast/cast_vectors-inl.h"
#include "kernels/cast/cast_watcher-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

using Chunks = std::span<const Chunk>;

#if !BTF_CAST_VECTORS

template <typename Body>
using InVectors = Body;
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

// The same of 8 bits, or 4: those are cut off.
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
    const Bits binade = hn::And(hn::Max(bits_of(magnitude), hn::Set(kBits, Base::kLeastNormal)),
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
  // Inf and NaN have the error NaN, what becomes Inf has the error Inf.
  template <bool>
  HWY_INLINE bool clean(FloatBits max_error) const { return max_error < kInfinity32; }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// By instructions that round as the reference does.
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
  // As of bfloat16.
  template <bool>
  HWY_INLINE bool clean(FloatBits max_error) const { return max_error < kInfinity32; }
};
#else
using ToFloat16 = ToFloat<DType::float16>;
#endif

// Toward zero. What an int32 cannot hold becomes a number that no narrower type holds, but for NaN,
// which is 0 on some CPUs.
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
  // The errors of what an int32 cannot hold are no floats. A uint32 is an int32 here: numbers from
  // 2^31 on go by loops, those below 0 have an error that is a float.
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
      if constexpr (kWidth == 32)
        range_.see(hn::BitCast(kInts, kUint32 ? value : magnitude));
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
    // Numbers that an int16 cannot hold have become its largest or least one.
    if constexpr (kWidth <= 8 && !kClamp)
      for (const Shorts& some : shorts) range_.see(some);
    store_bytes<kWidth, Base::kSigned>(shorts, -1, target, stream, watcher);
  }
  // NaN has the error NaN.
  template <bool kClamp>
  HWY_INLINE bool clean(FloatBits max_error) const {
    constexpr std::int32_t kLeast = kClamp ? std::numeric_limits<std::int32_t>::min() : 0;
    if constexpr (kClamp && !kUint32)
      return max_error < Base::kExactError;
    else if constexpr (kWidth == 32)
      return range_.within(kLeast, std::bit_cast<std::int32_t>(0x1p31F) - 1) &&
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

// What take() wants, of one of the classes above.
template <typename Casts>
struct InVectors : Casts {
  static constexpr bool kInVectors = true;

  // False if they must be cast in another way.
  template <Watch kWatch, bool kClamp>
  HWY_INLINE static bool vectors(Chunks chunks, float bar, Tally& tally) {
    Casts casts;
    Watcher<kWatch> watcher(bar);
    for (const Chunk& chunk : chunks)
      by_blocks<kBlock, float, CodeOfBits<8 * Casts::kTargetBytes>>(
          chunk, [&](const float* from, auto* to, bool stream) HWY_ATTR {
            casts.template block<kClamp>(from, reinterpret_cast<std::byte*>(to), stream, watcher);
            watcher.end_block();
          });
    tally = watcher.tally();
    return casts.template clean<kClamp>(tally.max_error);
  }

  // Of a chunk that they have cast.
  template <bool kClamp>
  HWY_INLINE static void keep_errors(const Chunk& chunk, Errors& errors) {
    HWY_ALIGN std::array<CodeOfBits<8 * Casts::kTargetBytes>, kChunk> codes;
    Casts casts;
    ErrorKeeper keeper(errors);
    const Chunk again{chunk.source, reinterpret_cast<std::byte*>(codes.data()), chunk.count, 0,
                      false};
    by_blocks<kBlock, float, CodeOfBits<8 * Casts::kTargetBytes>>(
        again, [&](const float* from, auto* to, bool) HWY_ATTR {
          casts.template block<kClamp>(from, reinterpret_cast<std::byte*>(to), false, keeper);
          keeper.end_block();
        });
  }
};

#endif

// How a chunk is cast. The next one is first tried in the way that this one needed.
enum class Way : std::uint8_t { vectors, clamping_vectors, loops };

// Body::loop<kWatch>(chunk, bar, errors): casts anything. Body::kMostToZero: the largest magnitude
// that becomes zero. Body::kHasNan, kClamps, kLow, kHigh: what becomes of NaN, and of numbers
// beyond [kLow, kHigh]. Body::vectors<kWatch, kClamp>(chunks, bar, tally), if Body::kInVectors:
// faster, and false if there is more in the chunks than finite numbers within the range, or with
// kClamp (if Body::kClampsInVectors) not too far beyond it.
template <typename Body, bool kClamp>
HWY_INLINE bool by_vectors(Chunks chunks, const LossAccount& account, Tally& tally) {
  // No error is larger than the number itself, for 0 would be nearer.
  if (account.max_rel >= 1)
    return Body::template vectors<Watch::absolute, kClamp>(chunks, 0, tally);
  const float bar = relative_bar(account.max_rel);
  return Body::template vectors<Watch::relative, kClamp>(chunks, bar, tally);
}

// Casts in the first way from `way` on that can, if that is no loop. Says which it is.
template <typename Body>
HWY_INLINE Way take(Way way, Chunks chunks, const LossAccount& account, Tally& tally) {
  if constexpr (Body::kInVectors) {
    if (way == Way::vectors && by_vectors<Body, false>(chunks, account, tally)) return Way::vectors;
    if constexpr (Body::kClampsInVectors)
      if (way != Way::loops && by_vectors<Body, true>(chunks, account, tally))
        return Way::clamping_vectors;
  }
  return Way::loops;
}

template <typename Body>
HWY_INLINE Way next_way(const Tally& tally) {
  if (tally.nan != 0) return Way::loops;
  if (tally.overflowed == 0) return Way::vectors;
  if constexpr (Body::kInVectors)
    if (Body::kClampsInVectors) return Way::clamping_vectors;
  return Way::loops;
}

template <typename Body>
HWY_INLINE void add_tally(const Tally& tally, LossAccount& account) {
  account.nan += tally.nan;
  account.nan_lost += Body::kHasNan ? 0 : tally.nan;
  account.overflowed += tally.overflowed;
  account.to_zero += tally.to_zero;
  account.inexact += tally.changed - tally.to_zero;
  account.max_abs = std::max(account.max_abs, as_double(tally.max_error));
  if (tally.to_zero > 0) account.max_rel = std::max(account.max_rel, 1.0);
}

// The errors of a chunk, which was cast in this way.
template <typename Body>
HWY_INLINE void keep_errors(Way way, const Chunk& chunk, float bar, Errors& errors) {
  if constexpr (Body::kInVectors) {
    if (way == Way::vectors) return Body::template keep_errors<false>(chunk, errors);
    if constexpr (Body::kClampsInVectors)
      if (way == Way::clamping_vectors) return Body::template keep_errors<true>(chunk, errors);
  }
  Body::template loop<Watch::each>(chunk, bar, &errors);
}

template <typename Body>
HWY_INLINE void cast_chunk(const Chunk& chunk, Way& way, LossAccount& account) {
  const float bar = relative_bar(account.max_rel);
  Tally tally;
  const Way taken = take<Body>(way, Chunks(&chunk, 1), account, tally);
  if (taken == Way::loops) {
    tally = streamed<Body>(chunk, [&](const Chunk& some) HWY_ATTR {
      return Body::template loop<Watch::relative>(some, bar, nullptr);
    });
    // What becomes zero has an error above every bar.
    if (tally.record) tally.to_zero = count_to_zero(chunk, Body::kMostToZero);
  }
  way = next_way<Body>(tally);
  add_tally<Body>(tally, account);
  if (tally.record && account.max_rel < 1) {
    Errors errors;
    keep_errors<Body>(taken, chunk, bar, errors);
    settle_quotients(errors, chunk.count, account);
  }
  // Vectors have seen these errors too, loops have not.
  if (Body::kClamps && tally.overflowed > 0 && (tally.record || taken == Way::loops))
    settle_clamped(chunk, Body::kLow, Body::kHigh, account);
}

// Short runs, several with one tally: that of each would take as long as the run itself.
template <typename Body>
HWY_INLINE void cast_short_runs(const CastRuns& work, LossAccount& account) {
  account.elements += work.runs * work.count;
  constexpr std::size_t kMost = 16;
  std::array<Chunk, kMost> chunks;
  const std::size_t together = std::clamp<std::size_t>(kChunk / work.count, 1, kMost);
  Way way = Way::vectors;
  for (std::size_t run = 0; run < work.runs; run += together) {
    const std::size_t some = std::min(together, work.runs - run);
    for (std::size_t i = 0; i < some; ++i) chunks[i] = chunk_at<Body>(work, run + i, 0);
    Tally tally;
    const Way taken = take<Body>(way, Chunks(chunks.data(), some), account, tally);
    if (taken != Way::loops && !tally.record) {
      way = next_way<Body>(tally);
      add_tally<Body>(tally, account);
    } else {
      for (std::size_t i = 0; i < some; ++i) cast_chunk<Body>(chunks[i], way, account);
    }
  }
}

template <typename Body>
HWY_INLINE void cast_narrow(const CastRuns& work, LossAccount& account) {
  if (work.count == 0) return;
  if (work.runs > 1 && work.count <= kChunk / 2) return cast_short_runs<Body>(work, account);
  Way way = Way::vectors;
  each_chunk<Body>(work, account,
                   [&](const Chunk& chunk) HWY_ATTR { cast_chunk<Body>(chunk, way, account); });
}

// A benchmark's measure of what the account costs.
template <typename Body>
HWY_INLINE void cast_without_account(const CastRuns& work, LossAccount& account) {
  each_chunk<Body>(work, account, [&](const Chunk& chunk) HWY_ATTR {
    if constexpr (Body::kInVectors) {
      Tally tally;
      const Chunks chunks(&chunk, 1);
      if constexpr (Body::kClampsInVectors)
        Body::template vectors<Watch::nothing, true>(chunks, 0, tally);
      else
        Body::template vectors<Watch::nothing, false>(chunks, 0, tally);
    } else {
      Body::template loop<Watch::nothing>(chunk, 0, nullptr);
    }
  });
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
