// How a cast of a run keeps its account: what all bodies of cast_runs.cc have in common.
//
// An error is compared with the largest ones so far, and only a chunk that may hold a new largest
// relative error is looked at again. For the comparison there is `bar`, a float no larger than the
// largest relative error so far: if error / value is larger than that, then so is
// error > bar * value, and it takes no division to see.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "btf/cast.h"
#include "kernels/cpu_level.h"

namespace btf::cast_loop {

// Elements that are looked at together: few enough that both sides stay in the first-level cache.
inline constexpr std::size_t kChunk = 512;

// Masks of all ones or all zeros instead of bools: nothing is left for the compiler to branch on.
BTF_INLINE constexpr std::uint32_t mask(bool condition) { return condition ? ~0U : 0U; }

BTF_INLINE constexpr std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  return (mask & yes) | (~mask & no);
}

template <typename T>
BTF_INLINE T load(const std::byte* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(value), sizeof(value));
  return value;
}

template <typename T>
BTF_INLINE void store(std::byte* bytes, std::size_t index, T value) {
  std::memcpy(bytes + index * sizeof(value), &value, sizeof(value));
}

// Floats that are not negative, by their bits: ordered like the numbers, and unlike those their
// maximum vectorises.
using FloatBits = std::uint32_t;

inline constexpr std::uint32_t kMagnitude32 = 0x7fffffff;
inline constexpr std::uint32_t kInfinity32 = 0x7f800000;

// What is wanted of errors: nothing; the largest one; also whether one may have the largest
// quotient so far; or each of them, with the magnitude it is an error of.
enum class Watch : std::uint8_t { nothing, absolute, relative, each };

struct Errors {
  std::array<FloatBits, kChunk> error;
  std::array<FloatBits, kChunk> magnitude;
};

// Of a chunk. Errors are those of finite numbers within the target's range.
struct Tally {
  std::uint32_t overflowed = 0;
  std::uint32_t nan = 0;
  std::uint32_t to_zero = 0;
  std::uint32_t changed = 0;  // with an error, to_zero among them
  FloatBits max_error = 0;
  bool record = false;  // a quotient above the bar, perhaps
};

// The arguments of a body.
struct Chunk {
  const std::byte* source;
  std::byte* target;
  std::size_t count;
};

// At most max_rel * (1 - 2^-21). Small ones, which only an account of other casts can bring along,
// become 0, so that no product with a value from 2^-60 on is subnormal.
BTF_INLINE float relative_bar(double max_rel) {
  if (max_rel < 0x1p-40) return 0;
  return static_cast<float>(std::min(max_rel, 1.0) * (1 - 0x1p-20));
}

inline double as_double(FloatBits bits) { return std::bit_cast<float>(bits); }

// New largest quotients among the errors, in double precision as the account has them.
BTF_INLINE void settle_quotients(const Errors& errors, std::size_t count, LossAccount& account) {
  // Data of few different values have the largest quotient in every chunk; these shall not cost a
  // division per element. Quotients of two floats are equal or differ by more than 2^-49 of their
  // size. So if one element near the largest so far has exactly that one, all elements as near
  // have.
  const double nearly = account.max_rel * (1 - 0x1p-51);
  const double beyond = account.max_rel * (1 + 0x1p-51);
  std::uint64_t above = 0;
  std::int64_t near = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto error = static_cast<double>(std::bit_cast<float>(errors.error[i]));
    const auto size = static_cast<double>(std::bit_cast<float>(errors.magnitude[i]));
    above |= error > beyond * size ? 1 : 0;
    const std::int64_t here = error > nearly * size ? static_cast<std::int64_t>(i) : -1;
    near = near > here ? near : here;
  }
  if (near < 0) return;
  const auto quotient = [&](std::size_t i) {
    return as_double(errors.error[i]) / as_double(errors.magnitude[i]);
  };
  if (above == 0 && quotient(static_cast<std::size_t>(near)) == account.max_rel) return;
  for (std::size_t i = 0; i < count; ++i)
    if (errors.error[i] != 0) account.max_rel = std::max(account.max_rel, quotient(i));
}

// Finite numbers that the target's largest or lowest one stands for.
BTF_INLINE void settle_clamped(const Chunk& chunk, double low, double high, LossAccount& account) {
  const auto error_of = [&](float value) {
    const double x = std::abs(value) < std::numeric_limits<float>::infinity() ? value : 0;
    const double error = x > high ? x - high : low - x;
    return error > 0 ? error : 0;
  };
  const double max_abs = account.max_abs;
  const double max_rel = account.max_rel;
  std::uint64_t records = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const auto value = load<float>(chunk.source, i);
    const double error = error_of(value);
    const std::uint64_t larger = error > max_abs ? 1 : 0;
    const std::uint64_t worse = error / std::abs(static_cast<double>(value)) > max_rel ? 1 : 0;
    records |= larger | worse;
  }
  if (records == 0) return;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const auto value = load<float>(chunk.source, i);
    const double error = error_of(value);
    if (error == 0) continue;
    account.max_abs = std::max(account.max_abs, error);
    account.max_rel = std::max(account.max_rel, error / std::abs(static_cast<double>(value)));
  }
}

// Body::clean(chunk): no NaN, no Inf, nothing beyond the target's range.
// Body::loop<kSpecials, kWatch>(chunk, bar, errors): casts; kSpecials unless clean.
// Body::kHasNan, kClamps, kLow, kHigh: what becomes of NaN, and of numbers beyond [kLow, kHigh].
template <typename Body>
BTF_INLINE void cast_chunk(const Chunk& chunk, LossAccount& account) {
  const bool clean = Body::clean(chunk);
  const float bar = relative_bar(account.max_rel);
  Tally tally;
  if (!clean)
    tally = Body::template loop<true, Watch::relative>(chunk, bar, nullptr);
  else if (account.max_rel < 1)
    tally = Body::template loop<false, Watch::relative>(chunk, bar, nullptr);
  else  // No error is larger than the number itself, for 0 would be nearer.
    tally = Body::template loop<false, Watch::absolute>(chunk, bar, nullptr);
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
    Body::template loop<true, Watch::each>(chunk, bar, &errors);
    settle_quotients(errors, chunk.count, account);
  }
  if (Body::kClamps && tally.overflowed > 0)
    settle_clamped(chunk, Body::kLow, Body::kHigh, account);
}

// Without an account a cast is a benchmark's measure of what the account costs.
template <typename Body, bool kAccount = true>
BTF_INLINE void cast_chunks(const std::byte* source, std::byte* target, std::size_t count,
                            LossAccount& account) {
  for (std::size_t at = 0; at < count; at += kChunk) {
    const Chunk chunk{source + at * Body::kSourceBytes, target + at * Body::kTargetBytes,
                      std::min(kChunk, count - at)};
#ifdef PF
    for(std::size_t k=0;k<kChunk*Body::kSourceBytes;k+=64) __builtin_prefetch(chunk.source+PF+k,0,2);
#endif
    if constexpr (kAccount)
      cast_chunk<Body>(chunk, account);
    else if (Body::clean(chunk))
      Body::template loop<false, Watch::nothing>(chunk, 0, nullptr);
    else
      Body::template loop<true, Watch::nothing>(chunk, 0, nullptr);
  }
}

}  // namespace btf::cast_loop
