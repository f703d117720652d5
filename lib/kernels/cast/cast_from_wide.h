// Casts whose errors need doubles: float64 and int32 to float32, int64 to int32.
#pragma once

#include "kernels/cast/cast_loop.h"

namespace btf::cast_loop {

using DoubleBits = std::uint64_t;
inline constexpr DoubleBits kMagnitude64 = 0x7fffffffffffffff;
inline constexpr DoubleBits kInfinity64 = 0x7ff0000000000000;

// As less() for 32 bits; both numbers must be less than 2^63.
BTF_INLINE constexpr std::uint64_t less64(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a - b) >> 63);
}

BTF_INLINE constexpr std::uint64_t select64(std::uint64_t mask, std::uint64_t yes,
                                            std::uint64_t no) {
  return (mask & yes) | (~mask & no);
}

struct WideErrors {
  std::array<double, kChunk> error;
  std::array<double, kChunk> magnitude;
};

struct WideTally {
  std::uint64_t overflowed = 0;
  std::uint64_t nan = 0;
  std::uint64_t changed = 0;
  std::uint64_t zeros = 0;  // results that are zero, if counted
  bool record = false;      // one of the two largest errors may grow
};

// The largest errors so far; the relative one is a little less, as relative_bar().
struct WideBars {
  DoubleBits absolute;
  double relative;
};

BTF_INLINE WideBars wide_bars(const LossAccount& account) {
  return {std::bit_cast<DoubleBits>(account.max_abs),
          account.max_rel < 0x1p-60 ? 0 : std::min(account.max_rel, 1.0) * (1 - 0x1p-40)};
}

// Sets the top bit if a largest error may grow. Products that are rounded up to the error are
// subnormal, and their numbers become zero, which is counted elsewhere.
BTF_INLINE DoubleBits wide_record(DoubleBits error, DoubleBits magnitude, WideBars bars) {
  const auto limit = std::bit_cast<DoubleBits>(std::bit_cast<double>(magnitude) * bars.relative);
  return (bars.absolute - error) | (limit - error);
}

BTF_INLINE void settle_wide(const WideErrors& errors, std::size_t count, LossAccount& account) {
  std::uint64_t records = 0;
  const double max_abs = account.max_abs;
  const double max_rel = account.max_rel;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t larger = errors.error[i] > max_abs ? 1 : 0;
    const std::uint64_t worse = errors.error[i] / errors.magnitude[i] > max_rel ? 1 : 0;
    records |= larger | worse;
  }
  if (records == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(errors.error[i] > 0)) continue;
    account.max_abs = std::max(account.max_abs, errors.error[i]);
    account.max_rel = std::max(account.max_rel, errors.error[i] / errors.magnitude[i]);
  }
}

// Body::loop<kKeep>(chunk, bars, errors) casts and keeps the errors. `may_be_zero`: whether results
// of this body can be zero.
template <typename Body>
BTF_INLINE void add_wide(Chunk chunk, WideBars bars, const WideTally& tally, bool may_be_zero,
                         LossAccount& account) {
  const std::uint64_t to_zero = may_be_zero ? Body::count_to_zero(chunk) : 0;
  account.nan += tally.nan;
  account.overflowed += tally.overflowed;
  account.to_zero += to_zero;
  account.inexact += tally.changed - to_zero;
  if (to_zero > 0) account.max_rel = std::max(account.max_rel, 1.0);
  if (!tally.record) return;
  WideErrors errors;
  Body::template loop<true>(chunk, bars, &errors);
  settle_wide(errors, chunk.count, account);
}

struct Float64ToFloat32 {
  static constexpr DoubleBits kOver = 0x47effffff0000000;       // rounds to 2^128
  static constexpr DoubleBits kMaxToZero = 0x3690000000000000;  // half the least number
  static constexpr std::size_t kSourceBytes = sizeof(double);
  static constexpr std::size_t kTargetBytes = sizeof(float);

  BTF_INLINE static std::uint64_t count_to_zero(Chunk chunk) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const DoubleBits magnitude = load<DoubleBits>(chunk.source, i) & kMagnitude64;
      count += ((magnitude - kMaxToZero - 1) & (0 - magnitude)) >> 63;
    }
    return count;
  }

  template <bool kKeep>
  BTF_INLINE static WideTally loop(Chunk chunk, WideBars bars, WideErrors* errors) {
    std::uint64_t nans = 0;
    std::uint64_t overflowed = 0;
    std::uint64_t changed = 0;
    DoubleBits record = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto bits = load<DoubleBits>(chunk.source, i);
      const DoubleBits magnitude = bits & kMagnitude64;
      const std::uint64_t nan = less64(kInfinity64, magnitude);
      const std::uint64_t over = ~(less64(magnitude, kOver) | nan);
      const DoubleBits counted = ~(nan | over);
      // The quiet NaN without payload is that of a double without payload.
      DoubleBits plain = select64(nan, (bits & ~kMagnitude64) | 0x7ff8000000000000, bits);
      // A float beyond the range of the target type is undefined in C++; Inf is not.
      plain = select64(over, (bits & ~kMagnitude64) | kInfinity64, plain);
      nans -= nan;
      overflowed -= over & less64(magnitude, kInfinity64);
      const auto result = static_cast<float>(std::bit_cast<double>(plain));
      store(chunk.target, i, result);
      const double difference = static_cast<double>(result) - std::bit_cast<double>(plain);
      const DoubleBits error = std::bit_cast<DoubleBits>(difference) & kMagnitude64 & counted;
      changed += (0 - error) >> 63;
      record |= wide_record(error, magnitude & counted, bars);
      if constexpr (kKeep) {
        errors->error[i] = std::bit_cast<double>(error);
        errors->magnitude[i] = std::bit_cast<double>(magnitude);
      }
    }
    return {.overflowed = overflowed, .nan = nans, .changed = changed, .record = record >> 63 != 0};
  }
};

struct Int32ToFloat32 {
  static constexpr std::uint32_t kExact = 1U << 24;  // integers up to this are exact
  static constexpr std::size_t kSourceBytes = sizeof(std::int32_t);
  static constexpr std::size_t kTargetBytes = sizeof(float);

  BTF_INLINE static bool exact(Chunk chunk) {
    std::uint32_t all = 0;
    for (std::size_t i = 0; i < chunk.count; ++i)
      all |= load<std::uint32_t>(chunk.source, i) + kExact;
    return all < 2 * kExact;
  }

  BTF_INLINE static WideTally exact_loop(Chunk chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i)
      store(chunk.target, i, static_cast<float>(load<std::int32_t>(chunk.source, i)));
    return {};
  }

  BTF_INLINE static std::uint64_t count_to_zero(Chunk) { return 0; }

  template <bool kKeep>
  BTF_INLINE static WideTally loop(Chunk chunk, WideBars bars, WideErrors* errors) {
    std::uint64_t changed = 0;
    DoubleBits record = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto value = load<std::int32_t>(chunk.source, i);
      const auto result = static_cast<float>(value);
      store(chunk.target, i, result);
      const auto exact = static_cast<double>(value);
      const DoubleBits error =
          std::bit_cast<DoubleBits>(static_cast<double>(result) - exact) & kMagnitude64;
      const DoubleBits magnitude = std::bit_cast<DoubleBits>(exact) & kMagnitude64;
      changed += (0 - error) >> 63;
      record |= wide_record(error, magnitude, bars);
      if constexpr (kKeep) {
        errors->error[i] = std::bit_cast<double>(error);
        errors->magnitude[i] = std::bit_cast<double>(magnitude);
      }
    }
    return {.changed = changed, .record = record >> 63 != 0};
  }
};

struct Int64ToInt32 {
  static constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  static constexpr std::size_t kSourceBytes = sizeof(std::int64_t);
  static constexpr std::size_t kTargetBytes = sizeof(std::int32_t);

  BTF_INLINE static void account_clamped(std::int64_t value, LossAccount& account) {
    if (value >= kLow && value <= kHigh) return;
    const auto size = static_cast<std::uint64_t>(value);
    const std::uint64_t error = value < 0 ? static_cast<std::uint64_t>(kLow) - size
                                          : size - static_cast<std::uint64_t>(kHigh);
    const auto absolute = static_cast<double>(error);
    account.max_abs = std::max(account.max_abs, absolute);
    account.max_rel =
        std::max(account.max_rel, absolute / static_cast<double>(value < 0 ? 0 - size : size));
  }

  // Returns the number of elements beyond the range.
  BTF_INLINE static std::uint64_t loop(Chunk chunk, LossAccount& account) {
    std::int64_t most = kHigh;
    std::int64_t least = kLow;
    std::uint64_t overflowed = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const auto value = load<std::int64_t>(chunk.source, i);
      const std::int64_t inside = std::clamp(value, kLow, kHigh);
      store(chunk.target, i, static_cast<std::int32_t>(inside));
      most = std::max(most, value);
      least = std::min(least, value);
      overflowed += inside == value ? 0 : 1;
    }
    // Both errors grow with the number, as long as it is an exact double.
    constexpr std::int64_t kHeld = std::int64_t{1} << 53;
    if (most <= kHeld && least >= -kHeld) {
      account_clamped(most, account);
      account_clamped(least, account);
      return overflowed;
    }
    for (std::size_t i = 0; i < chunk.count; ++i)
      account_clamped(load<std::int64_t>(chunk.source, i), account);
    return overflowed;
  }
};

}  // namespace btf::cast_loop
