// Casts float32 to types that cannot represent all of its values: loops for any chunk, which
// cast_narrow-inl.h falls back to.
#pragma once

#include "kernels/cast/cast_loop.h"
#include "kernels/number/number.h"

namespace btf::cast_loop {

// The errors and counts of a body's loop, as local variables of simple types.
template <Watch kWatch>
struct LoopWatcher {
  float bar;
  Errors* errors;
  std::uint32_t changed = 0;
  FloatBits max_error = 0;
  std::uint32_t record = 0;  // the top bit

  // `error` is that of `magnitude`; 0 if there is none.
  BTF_INLINE void see(std::size_t i, FloatBits error, FloatBits magnitude) {
    if constexpr (kWatch == Watch::nothing) return;
    changed += (0 - error) >> 31;  // the bits of errors are less than 2^31
    max_error = std::max(max_error, error);
    if constexpr (kWatch == Watch::relative) {
      const auto limit = std::bit_cast<FloatBits>(std::bit_cast<float>(magnitude) * bar);
      // The difference of two floats' bits is negative if the second float is larger.
      // Equal if the product is subnormal, and rounded up to the error.
      record |= (limit - error - 1) & (0 - error);
    }
    if constexpr (kWatch == Watch::each) {
      errors->error[i] = error;
      errors->magnitude[i] = magnitude;
    }
  }

  BTF_INLINE Tally tally(std::uint32_t overflowed, std::uint32_t nan) const {
    return {.overflowed = overflowed,
            .nan = nan,
            .changed = changed,
            .max_error = max_error,
            .record = record >> 31 != 0};
  }
};

// A body for any chunk; cast_narrow-inl.h has faster ones for most.
struct AnyChunk {
  static constexpr bool kInVectors = false;
  static constexpr std::size_t kSourceBytes = sizeof(float);
};

// To a float with fewer bits. Adding a number whose last digit is the last one of the result rounds
// to nearest, ties to even, also for subnormal results. If the low bits of that number are the
// exponent of the result's code, the low bits of the sum are the code.
template <DType T>
struct Float32ToFloat : AnyChunk {
  static constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  static constexpr const FloatGeometry& kFp = kRow.fp;
  static constexpr unsigned kDrop = 23U - kFp.mantissa_bits;
  static constexpr std::uint32_t kMinNormal = static_cast<std::uint32_t>(128 - kFp.bias) << 23;
  static constexpr std::uint32_t kToAddend =
      (kDrop << 23) - (static_cast<std::uint32_t>(128 - kFp.bias) << kFp.mantissa_bits);
  static constexpr auto kMax = static_cast<std::uint32_t>(number::max_finite(kFp));
  static constexpr std::uint32_t kMaxBits =
      (kMax << kDrop) + (static_cast<std::uint32_t>(127 - kFp.bias) << 23);
  // The least magnitude that is rounded beyond kMax: the tie if kMax is odd, otherwise the next
  // one.
  static constexpr std::uint32_t kOver = kMaxBits + (1U << (kDrop - 1)) + (1 - (kMax & 1U));
  // Magnitudes are clamped to one that rounds to the code of all larger ones: kMax, or Inf.
  static constexpr std::uint32_t kCut = kFp.saturates ? kOver - 1 : kOver;
  // Half of the least subnormal number: a tie.
  static constexpr std::uint32_t kMaxToZero =
      static_cast<std::uint32_t>(127 - kFp.bias - kFp.mantissa_bits) << 23;
  static constexpr bool kHasNan = kFp.specials != FloatSpecials::none;
  static constexpr bool kHasMinusZero = kFp.specials != FloatSpecials::fnuz;
  static constexpr std::uint32_t kNan =
      kHasNan ? static_cast<std::uint32_t>(number::nan_code(kFp)) : kMax;
  static constexpr unsigned kSignShift = 32U - kRow.bits;
  static constexpr std::uint32_t kSignBit = 1U << (kRow.bits - 1U);

  using Code = CodeOfBits<kRow.bits>;
  static constexpr std::size_t kTargetBytes = sizeof(Code);
  static constexpr bool kClamps = kFp.saturates;
  static constexpr double kHigh = std::bit_cast<float>(kMaxBits);
  static constexpr double kLow = -kHigh;
  // Up to this distance beyond the range the error is an exact float: kHigh has no bit below the
  // last one of such a number.
  static constexpr FloatBits kExactError = ((kMaxBits >> 23) - kFp.mantissa_bits + 23) << 23;

  template <Watch kWatch>
  BTF_INLINE static Tally loop(Chunk chunk, float bar, Errors* errors) {
    LoopWatcher<kWatch> watcher{bar, errors};
    std::uint32_t nans = 0;
    std::uint32_t overflowed = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<std::uint32_t>(chunk.source, i);
      const std::uint32_t whole = bits & kMagnitude32;
      const std::uint32_t magnitude = std::min(whole, kCut);
      const std::uint32_t binade = std::max(magnitude, kMinNormal) & kInfinity32;
      const auto addend = std::bit_cast<float>(binade + (binade >> kDrop) + kToAddend);
      const float value = std::bit_cast<float>(magnitude);
      const float sum = value + addend;
      std::uint32_t code = std::bit_cast<std::uint32_t>(sum) & (kSignBit - 1);
      std::uint32_t error = std::bit_cast<std::uint32_t>(sum - addend - value) & kMagnitude32;
      std::uint32_t signs = bits >> kSignShift & kSignBit;
      const std::uint32_t nan = less(kInfinity32, whole);
      const std::uint32_t over = ~(less(whole, kOver) | nan);
      code = select(nan, kNan, code);
      if constexpr (!kHasNan) signs &= ~nan;
      if constexpr (!kHasMinusZero) signs &= less(0, code);
      error &= ~(over | nan);
      nans -= nan;
      overflowed -= over & (kFp.saturates ? ~0U : less(whole, kInfinity32));
      store(chunk.target, i, static_cast<Code>(code | signs));
      watcher.see(i, error, magnitude);
    }
    return watcher.tally(overflowed, nans);
  }
};

// bfloat16 has the exponents of float32, so integer arithmetic rounds subnormal numbers as well.
struct Float32ToBfloat16 : AnyChunk {
  static constexpr std::uint32_t kOver = 0x7f7f8000;
  static constexpr std::uint32_t kMaxToZero = 0x00008000;  // half the least number
  static constexpr bool kHasNan = true;
  static constexpr std::size_t kTargetBytes = sizeof(std::uint16_t);
  static constexpr bool kClamps = false;
  static constexpr double kHigh = 0;
  static constexpr double kLow = 0;

  template <Watch kWatch>
  BTF_INLINE static Tally loop(Chunk chunk, float bar, Errors* errors) {
    LoopWatcher<kWatch> watcher{bar, errors};
    std::uint32_t nans = 0;
    std::uint32_t overflowed = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<std::uint32_t>(chunk.source, i);
      const std::uint32_t magnitude = bits & kMagnitude32;
      // A carry may reach the sign only for NaN, whose code is replaced.
      const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1U);
      std::uint32_t code = rounded >> 16;
      std::uint32_t error =
          std::bit_cast<std::uint32_t>(std::bit_cast<float>(rounded & 0xffff0000U) -
                                       std::bit_cast<float>(bits)) &
          kMagnitude32;
      const std::uint32_t nan = less(kInfinity32, magnitude);
      const std::uint32_t over = ~(less(magnitude, kOver) | nan);
      code = select(nan, (bits >> 16 & 0x8000U) | 0x7fc0U, code);
      error &= ~(over | nan);
      nans -= nan;
      overflowed -= over & less(magnitude, kInfinity32);
      store(chunk.target, i, static_cast<std::uint16_t>(code));
      watcher.see(i, error, magnitude);
    }
    return watcher.tally(overflowed, nans);
  }
};

// To an integer of at most 32 bits: toward zero, clamped; NaN becomes 0.
template <DType T>
struct Float32ToInteger : AnyChunk {
  static constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  static constexpr bool kSigned = kRow.kind == NumberKind::signed_integer;
  // Bounds that are exact as float32: numbers between them truncate into the range. The lower one
  // is the next number below the least integer, or -1 without a sign.
  static constexpr float kAbove = static_cast<float>(1ULL << (kRow.bits - (kSigned ? 1U : 0U)));
  static constexpr float kBelow = !kSigned          ? -1.0F
                                  : kRow.bits == 32 ? std::bit_cast<float>(0xcf000001U)
                                                    : -kAbove - 1.0F;
  static constexpr auto kMaxCode =
      static_cast<std::uint32_t>(number::low_bits(kRow.bits - (kSigned ? 1U : 0U)));
  static constexpr std::uint32_t kMinCode = kSigned ? ~kMaxCode : 0;
  static constexpr auto kMask = static_cast<std::uint32_t>(number::low_bits(kRow.bits));
  static constexpr std::uint32_t kMaxToZero = std::bit_cast<std::uint32_t>(1.0F) - 1;
  static constexpr bool kHasNan = false;

  using Code = CodeOfBits<kRow.bits>;
  static constexpr std::size_t kTargetBytes = sizeof(Code);
  static constexpr bool kClamps = true;
  static constexpr double kHigh = kMaxCode;
  static constexpr double kLow = static_cast<std::int32_t>(kMinCode);
  // As for floats. The error of numbers that become 0 is the number itself.
  static constexpr bool kWide = kRow.bits == 32 && !kSigned;
  static constexpr FloatBits kExactError = std::bit_cast<FloatBits>(kWide ? 0x1p31F : 0x1p23F);
  using Whole = std::conditional_t<kWide, std::uint32_t, std::int32_t>;

  template <Watch kWatch>
  BTF_INLINE static Tally loop(Chunk chunk, float bar, Errors* errors) {
    LoopWatcher<kWatch> watcher{bar, errors};
    std::uint32_t nans = 0;
    std::uint32_t overflowed = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<std::uint32_t>(chunk.source, i);
      const std::uint32_t size = bits & kMagnitude32;
      const std::uint32_t nan = less(kInfinity32, size);
      const std::uint32_t below =
          sign_mask(bits) & ~(less(size, std::bit_cast<std::uint32_t>(-kBelow)) | nan);
      const std::uint32_t above =
          ~(sign_mask(bits) | less(size, std::bit_cast<std::uint32_t>(kAbove)) | nan);
      const std::uint32_t inside = bits & ~(nan | above | below);
      nans -= nan;
      overflowed -= above | below;
      const auto value = std::bit_cast<float>(inside);
      const auto integer = static_cast<Whole>(value);
      auto code = static_cast<std::uint32_t>(integer);
      code = select(above, kMaxCode, select(below, kMinCode, code));
      store(chunk.target, i, static_cast<Code>(code & kMask));
      const std::uint32_t magnitude = inside & kMagnitude32;
      const std::uint32_t error =
          std::bit_cast<std::uint32_t>(value - static_cast<float>(integer)) & kMagnitude32;
      watcher.see(i, error, magnitude);
    }
    return watcher.tally(overflowed, nans);
  }
};

}  // namespace btf::cast_loop
