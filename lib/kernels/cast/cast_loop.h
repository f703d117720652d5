// How a cast of a run keeps its account; shared by all pairs that have functions of their own.
//
// Errors are compared with the largest ones so far, and only a chunk that may have a new largest
// relative error is processed again. The comparison uses `bar`, a float that is not above the
// largest relative error so far: if error / value exceeds that, error > bar * value, which needs no
// division.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "btf/cast.h"
#include "kernels/cast/cast_runs.h"
#include "kernels/cpu/cpu_level.h"
#include "kernels/move/move.h"

namespace btf::cast_loop {

// Elements of a chunk: few enough that both sides stay in the first-level cache.
inline constexpr std::size_t kChunk = 1024;

// Masks of all ones or all zeros, by arithmetic: the compiler may turn a condition into a branch,
// or into a sum that it does not vectorise. Both numbers must be less than 2^31.
BTF_INLINE constexpr std::uint32_t less(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a - b) >> 31);
}

BTF_INLINE constexpr std::uint32_t sign_mask(std::uint32_t bits) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31);
}

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

template <unsigned kBits>
using CodeOfBits =
    std::conditional_t<kBits <= 8, std::uint8_t,
                       std::conditional_t<kBits <= 16, std::uint16_t, std::uint32_t>>;

// The bits of a non-negative float. They have the order of the numbers, and their maximum
// vectorises.
using FloatBits = std::uint32_t;

inline constexpr std::uint32_t kMagnitude32 = 0x7fffffff;
inline constexpr std::uint32_t kInfinity32 = 0x7f800000;

// The errors to compute: none; the largest one; in addition, whether one may have the largest
// relative error so far; or all errors, with the magnitudes of their elements.
enum class Watch : std::uint8_t { nothing, absolute, relative, each };

// The errors of a chunk; 0 for elements without one.
struct Errors {
  std::array<FloatBits, kChunk> error;
  std::array<FloatBits, kChunk> magnitude;
};

struct Chunk {
  const std::byte* source;
  std::byte* target;
  std::size_t count;
  std::ptrdiff_t ahead;  // as in CastRuns
  bool stream;           // as in CastRuns
};

// The chunk of a run that begins with element `at`.
template <typename Body>
BTF_INLINE Chunk chunk_at(const CastRuns& work, std::size_t run, std::size_t at) {
  return {work.source + run * work.source_pitch + at * Body::kSourceBytes,
          work.target + run * work.target_pitch + at * Body::kTargetBytes,
          std::min(kChunk, work.count - at), work.ahead, work.stream};
}

// Runs a loop over a chunk that cannot bypass the caches itself, and returns its result.
template <typename Body, typename Loop>
BTF_INLINE auto streamed(const Chunk& chunk, Loop&& loop) {
  alignas(64) std::array<std::byte, kChunk * Body::kTargetBytes> codes;
  std::byte* const target = chunk.stream ? codes.data() : chunk.target;
  const auto result = loop(Chunk{chunk.source, target, chunk.count, chunk.ahead, false});
  if (chunk.stream) stream_copy(codes.data(), chunk.target, chunk.count * Body::kTargetBytes);
  return result;
}

// Prefetches for the block of kBytes that begins with byte `at`.
template <std::size_t kBytes>
BTF_INLINE void fetch_ahead(const Chunk& chunk, std::size_t at) {
  if (chunk.ahead == kByPages)
    fetch_pages<kBytes>(chunk.source + at);
  else if (chunk.ahead != 0)
    fetch_run(chunk.source + static_cast<std::ptrdiff_t>(at) + chunk.ahead, kBytes);
}

// The same for the whole chunk.
template <typename Body>
BTF_INLINE void fetch_ahead(const Chunk& chunk) {
  constexpr std::size_t kBytes = 256;
  for (std::size_t at = 0; at < chunk.count * Body::kSourceBytes; at += kBytes)
    fetch_ahead<kBytes>(chunk, at);
}

// The counts of a chunk. Errors are those of finite numbers within the target's range.
struct Tally {
  std::uint32_t overflowed = 0;
  std::uint32_t nan = 0;
  std::uint32_t changed = 0;  // elements with an error
  std::uint32_t to_zero = 0;  // elements with an error that became zero
  FloatBits max_error = 0;
  bool record = false;  // a relative error may be above the bar
};

// Counts the magnitudes above zero and up to `most`.
BTF_INLINE std::uint32_t count_to_zero(Chunk chunk, std::uint32_t most) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const std::uint32_t magnitude = load<std::uint32_t>(chunk.source, i) & kMagnitude32;
    count += ((magnitude - most - 1) & (0 - magnitude)) >> 31;
  }
  return count;
}

// At most max_rel * (1 - 2^-21). Small values, which only an account of other casts can have,
// become 0: a subnormal bar could be rounded above max_rel.
BTF_INLINE float relative_bar(double max_rel) {
  if (max_rel < 0x1p-40) return 0;
  return static_cast<float>(std::min(max_rel, 1.0) * (1 - 0x1p-20));
}

inline double as_double(FloatBits bits) { return std::bit_cast<float>(bits); }

// Adds the errors of finite numbers that are clamped. Both errors grow with the number, so those of
// the largest and the lowest number are enough, as long as they are exact.
BTF_INLINE void settle_clamped(Chunk chunk, double low, double high, LossAccount& account) {
  constexpr FloatBits kMaxExact = std::bit_cast<FloatBits>(0x1p40F);
  FloatBits above = 0;
  FloatBits below = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const auto bits = load<std::uint32_t>(chunk.source, i);
    const FloatBits size = bits & kMagnitude32 & less(bits & kMagnitude32, kInfinity32);
    const std::uint32_t negative = sign_mask(bits);
    above = std::max(above, size & ~negative);
    below = std::max(below, size & negative);
  }
  const auto settle = [&](double x) BTF_INLINE_LAMBDA {
    const double error = x > high ? x - high : low - x;
    if (!(error > 0)) return;
    account.max_abs = std::max(account.max_abs, error);
    account.max_rel = std::max(account.max_rel, error / std::abs(x));
  };
  if (std::max(above, below) <= kMaxExact) {
    settle(as_double(above));
    settle(-as_double(below));
    return;
  }
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const auto x = static_cast<double>(load<float>(chunk.source, i));
    if (std::isfinite(x)) settle(x);
  }
}

}  // namespace btf::cast_loop
