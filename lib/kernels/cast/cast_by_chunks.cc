#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cast/cast_reference.h"
#include "kernels/cast/cast_rows.h"
#include "kernels/cast/cast_tile.h"
#include "kernels/cast/few_codes.h"
#include "kernels/cast/integer_runs.h"
#include "kernels/cast/to_floats.h"
#include "kernels/move/move.h"
#include "kernels/narrow/narrowing.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

// Below this number of elements the reference is faster than setting up a chunk.
constexpr std::uint64_t kFewElements = 16;

struct Chunk {
  const std::byte* source;
  std::byte* target;
  std::size_t count;
};

void fetch_ahead(const std::byte* source, std::size_t bytes, std::ptrdiff_t ahead) {
  if (ahead == kByPages) {
    for (std::size_t at = 0; at < bytes; at += 256) fetch_pages<256>(source + at);
  } else if (ahead != 0) {
    fetch_run(source + ahead, bytes);
  }
}

template <std::size_t kMax>
class ChunkCast : public RunCast {
 public:
  explicit ChunkCast(const CastJob& job)
      : source_bytes_(info(job.from).buffer_bytes()), target_bytes_(info(job.to).buffer_bytes()) {}

  void operator()(const CastRuns& work, LossAccount& account) const override {
    alignas(64) std::array<std::byte, kMax * 8> codes;
    for (std::size_t run = 0; run < work.runs; ++run) {
      const std::byte* source = work.source + run * work.source_pitch;
      std::byte* target = work.target + run * work.target_pitch;
      for (std::size_t at = 0; at < work.count; at += kMax) {
        const std::size_t n = std::min(kMax, work.count - at);
        const std::byte* from = source + at * source_bytes_;
        std::byte* to = target + at * target_bytes_;
        fetch_ahead(from, n * source_bytes_, work.ahead);
        cast({from, work.stream ? codes.data() : to, n}, account);
        if (work.stream) stream_copy(codes.data(), to, n * target_bytes_);
      }
    }
  }

 private:
  virtual void cast(const Chunk& chunk, LossAccount& account) const = 0;

  std::size_t source_bytes_;
  std::size_t target_bytes_;
};

constexpr std::size_t kFloats = 4096;

class ByFloats final : public ChunkCast<kFloats> {
 public:
  explicit ByFloats(const CastJob& job)
      : ChunkCast(job),
        widen_(find_cast_runs(job.from, DType::float32)),
        narrow_(find_cast_runs(DType::float32, job.to)) {}

 private:
  void cast(const Chunk& chunk, LossAccount& account) const override {
    alignas(64) std::array<float, kFloats> numbers;
    auto* bytes = reinterpret_cast<std::byte*>(numbers.data());
    LossAccount nothing_lost;
    widen_({.source = chunk.source, .target = bytes, .count = chunk.count}, nothing_lost);
    narrow_({.source = bytes, .target = chunk.target, .count = chunk.count}, account);
  }

  CastRunsFn widen_;
  CastRunsFn narrow_;
};

class ByDoubles : public ChunkCast<kNarrowChunk> {
 public:
  explicit ByDoubles(const CastJob& job)
      : ChunkCast(job),
        job_(job),
        to_(make_narrowing(job.to, job.policy)),
        target_bytes_(info(job.to).buffer_bytes()),
        widen_(fits_double(job.from) ? widener<double>(job.from) : nullptr),
        plain_(find_narrow(to_.kind, NumberSource::plain)),
        // Wrapping integers would lose the digits that a double does not have.
        split_(to_.wraps ? nullptr : find_narrow(to_.kind, NumberSource::split)) {}

 protected:
  void cast(const Chunk& chunk, LossAccount& account) const override {
    alignas(64) NarrowNumbers numbers;
    alignas(64) NarrowNumbers low;
    NarrowCodes codes;
    NarrowFn narrow = plain_;
    if (widen_ != nullptr)
      widen_(chunk.source, 1, chunk.count, numbers.data());
    else if (split_integers(chunk.source, chunk.count,
                            info(job_.from).kind == NumberKind::signed_integer, numbers.data(),
                            low.data()))
      narrow = split_;
    if (narrow == nullptr) return by_reference(chunk, account);
    LossAccount tally = account;
    narrow(to_, {.numbers = numbers.data(), .low = low.data(), .count = chunk.count}, codes, tally);
    if (to_.wraps && to_.kind == TargetKind::wide_integer && tally.overflowed != account.overflowed)
      return by_reference(chunk, account);
    account = tally;
    pack_codes(codes, chunk.count, target_bytes_, chunk.target);
  }

 private:
  void by_reference(const Chunk& chunk, LossAccount& account) const {
    cast_reference_tile(job_,
                        {.source = chunk.source,
                         .target = chunk.target,
                         .n0 = chunk.count,
                         .source_stride0 = 1,
                         .target_stride0 = 1},
                        account);
  }

  CastJob job_;
  Narrowing to_;
  std::size_t target_bytes_;
  WidenFn<double> widen_;
  NarrowFn plain_;
  NarrowFn split_;
};

// To 64-bit integers, whose range is seldom needed: if no number of a chunk exceeds the range of 32
// bits, the losses are the same as with those. Without a sign, both ranges begin at 0.
class ByHalfTheBits final : public ByDoubles {
 public:
  static bool applies(const CastJob& job) {
    return is_default(job.policy) && ToFloats(job.from).can() && half_of(job.to) != job.to;
  }

  explicit ByHalfTheBits(const CastJob& job)
      : ByDoubles(job),
        floats_(job.from),
        narrow_(find_cast_runs(DType::float32, half_of(job.to))),
        widen_(find_integer_run(half_of(job.to), job.to)),
        same_below_(info(job.to).kind == NumberKind::unsigned_integer) {}

 private:
  static DType half_of(DType to) {
    const DTypeInfo& row = info(to);
    if (row.bits != 64) return to;
    const auto half = std::ranges::find_if(dtypes(), [&](const DTypeInfo& other) {
      return other.kind == row.kind && other.bits == row.bits / 2;
    });
    const bool can = half != dtypes().end() && find_integer_run(half->dtype, to) != nullptr;
    return can ? half->dtype : to;
  }

  void cast(const Chunk& chunk, LossAccount& account) const override {
    alignas(64) std::array<float, kNarrowChunk> room;
    alignas(64) std::array<std::uint32_t, kNarrowChunk> halves;
    const float* const numbers = floats_(chunk.source, chunk.count, room.data());
    auto* const bytes = reinterpret_cast<std::byte*>(halves.data());
    LossAccount tally = account;
    narrow_({.source = reinterpret_cast<const std::byte*>(numbers),
             .target = bytes,
             .count = chunk.count},
            tally);
    if (tally.overflowed != account.overflowed &&
        !(same_below_ && std::count(halves.data(), halves.data() + chunk.count, UINT32_MAX) == 0))
      return ByDoubles::cast(chunk, account);
    widen_(bytes, chunk.target, chunk.count);
    account = tally;
  }

  ToFloats floats_;
  CastRunsFn narrow_;
  IntegerRunFn widen_;
  bool same_below_;
};

// Integers to integers: only numbers beyond the range have errors, and the largest errors are those
// of the least and the largest number.
class ByIntegers final : public ByDoubles {
 public:
  static bool applies(const CastJob& job) {
    return (job.policy.overflow == Overflow::saturate || job.policy.overflow == Overflow::error) &&
           find_integer_run(job.from, job.to) != nullptr;
  }

  explicit ByIntegers(const CastJob& job)
      : ByDoubles(job), run_(find_integer_run(job.from, job.to)) {
    const DTypeInfo& row = info(job.to);
    const int digits = row.bits - (row.kind == NumberKind::signed_integer ? 1 : 0);
    most_ = std::ldexp(1.0, digits) - 1;
    if (row.kind == NumberKind::signed_integer) least_ = -std::ldexp(1.0, digits);
  }

 private:
  void cast(const Chunk& chunk, LossAccount& account) const override {
    const IntegerTally tally = run_(chunk.source, chunk.target, chunk.count);
    // Errors of integers that are not doubles are rounded, and need not grow with the number.
    if (tally.overflowed != 0 && !tally.doubles) return ByDoubles::cast(chunk, account);
    account.elements += chunk.count;
    account.overflowed += tally.overflowed;
    if (tally.overflowed == 0) return;
    settle(tally.largest, tally.largest - most_, account);
    settle(tally.least, least_ - tally.least, account);
  }

  static void settle(double number, double error, LossAccount& account) {
    if (!(error > 0)) return;
    account.max_abs = std::max(account.max_abs, error);
    account.max_rel = std::max(account.max_rel, error / std::abs(number));
  }

  IntegerRunFn run_;
  double least_ = 0;
  double most_ = 0;
};

// Integers of 32 bits or more to floats of 16 and 32 bits: usually all numbers of a chunk are exact
// as float32.
class ByIntegersAsFloats final : public ByDoubles {
 public:
  static bool applies(const CastJob& job) {
    const DTypeInfo& from = info(job.from);
    return is_default(job.policy) && !from.floating() && from.bits >= 32 &&
           info(job.to).floating() && info(job.to).bits > 8 &&
           (job.to == DType::float32 || find_cast_runs(DType::float32, job.to) != nullptr) &&
           (job.from == DType::int32 || find_integer_run(job.from, DType::int32) != nullptr);
  }

  explicit ByIntegersAsFloats(const CastJob& job)
      : ByDoubles(job),
        to_int32_(find_integer_run(job.from, DType::int32)),
        narrow_(find_cast_runs(DType::float32, job.to)) {}

 private:
  void cast(const Chunk& chunk, LossAccount& account) const override {
    alignas(64) std::array<std::int32_t, kNarrowChunk> room;
    alignas(64) std::array<float, kNarrowChunk> floats;
    auto* const ints = reinterpret_cast<std::byte*>(room.data());
    auto* const numbers = reinterpret_cast<std::byte*>(floats.data());
    if (to_int32_ != nullptr && to_int32_(chunk.source, ints, chunk.count).overflowed != 0)
      return ByDoubles::cast(chunk, account);
    const std::byte* const source = to_int32_ != nullptr ? ints : chunk.source;
    if (narrow_ == nullptr)
      return to_float_({.source = source, .target = chunk.target, .count = chunk.count}, account);
    LossAccount lost;
    to_float_({.source = source, .target = numbers, .count = chunk.count}, lost);
    if (lost.changed() != 0) return ByDoubles::cast(chunk, account);
    narrow_({.source = numbers, .target = chunk.target, .count = chunk.count}, account);
  }

  IntegerRunFn to_int32_;  // nullptr: they are
  CastRunsFn to_float_ = find_cast_runs(DType::int32, DType::float32);
  CastRunsFn narrow_;  // nullptr: to float32
};

}  // namespace

bool cast_by_floats_applies(const CastJob& job) {
  // The rows of 32-bit integers are not lossless.
  if (job.from == job.to || info(job.from).bits > 16 || !is_default(job.policy)) return false;
  // Tables are faster, also if the data has few different numbers, so that every chunk has the
  // largest error again.
  if (has_few_codes(info(job.from))) return false;
  if (info(job.from).bits <= 8 && info(job.to).bits <= 8) return false;
  return find_cast_runs(job.from, DType::float32) != nullptr &&
         find_cast_runs(DType::float32, job.to) != nullptr;
}

bool cast_by_integers_applies(const CastJob& job) {
  return job.from != job.to && ByIntegers::applies(job);
}

bool cast_by_chunks_applies(const CastJob& job) {
  return job.from != job.to &&
         (info(job.from).bits > 8 || cast_by_floats_applies(job) || cast_by_integers_applies(job));
}

void cast_by_chunks_tile(const CastJob& job, const Tile& tile, LossAccount& account) {
  if (tile.n0 * tile.n1 < kFewElements) return cast_reference_tile(job, tile, account);
  if (cast_by_integers_applies(job)) return cast_tile(ByIntegers(job), job, tile, account);
  if (cast_by_floats_applies(job)) return cast_tile(ByFloats(job), job, tile, account);
  if (ByIntegersAsFloats::applies(job))
    return cast_tile(ByIntegersAsFloats(job), job, tile, account);
  if (ByHalfTheBits::applies(job)) return cast_tile(ByHalfTheBits(job), job, tile, account);
  cast_tile(ByDoubles(job), job, tile, account);
}

}  // namespace btf
