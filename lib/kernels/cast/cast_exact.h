// Casts to types that hold every value of the source: nothing is lost but NaN's payload.
#pragma once

#include "kernels/cast/cast_loop.h"
#include "kernels/number/number.h"

namespace btf::cast_loop {

// In each body, loop(chunk) casts and returns the number of NaN.

// Floats of at most 16 bits.
template <DType T>
struct SmallFloatToFloat32 {
  static constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  static constexpr const FloatGeometry& kFp = kRow.fp;
  static constexpr unsigned kShift = 23U - kFp.mantissa_bits;
  static constexpr std::uint32_t kMagnitude = (1U << (kRow.bits - 1U)) - 1;
  static constexpr auto kMax = static_cast<std::uint32_t>(number::max_finite(kFp));
  static constexpr bool kHasInfinity = kFp.specials == FloatSpecials::ieee;
  static constexpr bool kUnsignedNan = kFp.specials == FloatSpecials::fnuz;
  static constexpr std::uint32_t kLastNumber = kHasInfinity ? kMax + 1 : kMax;
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kFp.bias) << 23;

  using Code = CodeOfBits<kRow.bits>;
  static constexpr std::size_t kSourceBytes = sizeof(Code);
  static constexpr std::size_t kTargetBytes = sizeof(float);

  // bfloat16 is the upper half of a float32. Subnormal numbers of the others are normal in float32:
  // their mantissa gets the exponent of the least normal number, and that number is subtracted.
  BTF_INLINE static std::uint32_t finite(std::uint32_t magnitude) {
    const std::uint32_t wide = magnitude << kShift;
    if constexpr (kFp.bias == 127) return wide;
    constexpr std::uint32_t kMinNormal = kRebias + (1U << 23);
    const float subnormal =
        std::bit_cast<float>(wide + kMinNormal) - std::bit_cast<float>(kMinNormal);
    return select(less(magnitude, 1U << kFp.mantissa_bits), std::bit_cast<std::uint32_t>(subnormal),
                  wide + kRebias);
  }

  BTF_INLINE static std::uint32_t loop(Chunk chunk) {
    std::uint32_t nans = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const std::uint32_t code = load<Code>(chunk.source, i);
      const std::uint32_t magnitude = code & kMagnitude;
      std::uint32_t signs = code & ~kMagnitude;
      std::uint32_t bits = finite(magnitude);
      if constexpr (kHasInfinity) bits = select(less(kMax, magnitude), kInfinity32, bits);
      if constexpr (kFp.specials != FloatSpecials::none) {
        const std::uint32_t nan =
            kUnsignedNan ? ~less(0, code ^ number::nan_code(kFp)) : less(kLastNumber, magnitude);
        bits = select(nan, 0x7fc00000U, bits);
        nans -= nan;
        if constexpr (kUnsignedNan) signs &= ~nan;
      }
      store(chunk.target, i, bits | signs << (32U - kRow.bits));
    }
    return nans;
  }
};

// Integers of at most 16 bits, and bool, where any byte except 0 is true.
template <DType T>
struct SmallIntegerToFloat32 {
  static constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];

  using Code = CodeOfBits<kRow.bits>;
  static constexpr std::size_t kSourceBytes = sizeof(Code);
  static constexpr std::size_t kTargetBytes = sizeof(float);

  BTF_INLINE static std::int32_t value(std::uint32_t code) {
    constexpr std::uint32_t kSign = 1U << (kRow.bits - 1U);
    if constexpr (kRow.kind == NumberKind::boolean)
      return static_cast<std::int32_t>((0 - code) >> 31);
    if constexpr (kRow.kind == NumberKind::signed_integer)
      return static_cast<std::int32_t>((code ^ kSign) - kSign);
    return static_cast<std::int32_t>(code);
  }

  BTF_INLINE static std::uint32_t loop(Chunk chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i)
      store(chunk.target, i, static_cast<float>(value(load<Code>(chunk.source, i))));
    return 0;
  }
};

struct Int32ToInt64 {
  static constexpr std::size_t kSourceBytes = sizeof(std::int32_t);
  static constexpr std::size_t kTargetBytes = sizeof(std::int64_t);

  BTF_INLINE static std::uint32_t loop(Chunk chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i)
      store(chunk.target, i, static_cast<std::int64_t>(load<std::int32_t>(chunk.source, i)));
    return 0;
  }
};

struct Float32ToFloat64 {
  static constexpr std::size_t kSourceBytes = sizeof(float);
  static constexpr std::size_t kTargetBytes = sizeof(double);

  BTF_INLINE static std::uint32_t loop(Chunk chunk) {
    std::uint32_t nans = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<std::uint32_t>(chunk.source, i);
      const std::uint32_t nan = less(kInfinity32, bits & kMagnitude32);
      // A float32 NaN without payload becomes the quiet NaN without payload.
      const std::uint32_t plain = select(nan, (bits & ~kMagnitude32) | 0x7fc00000U, bits);
      store(chunk.target, i, static_cast<double>(std::bit_cast<float>(plain)));
      nans -= nan;
    }
    return nans;
  }
};

}  // namespace btf::cast_loop
