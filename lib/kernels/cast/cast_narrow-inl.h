// Casts float32 to types that cannot represent all of its values. Chunks of finite numbers are cast
// in explicit vectors, which clamp only if a chunk has numbers beyond the range. Other chunks, and
// those that may have a new largest relative error, are cast by the loops of cast_from_float32.h.
#if defined(BTF_KERNELS_CAST_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_NARROW_INL_H
#undef BTF_KERNELS_CAST_NARROW_INL_H
#else
#define BTF_KERNELS_CAST_NARROW_INL_H
#endif

#include <span>

#include "kernels/cast/cast_narrow_targets-inl.h"
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

#else

// The functions of a class of cast_narrow_targets-inl.h that take() needs.
template <typename Casts>
struct InVectors : Casts {
  static constexpr bool kInVectors = true;

  // Returns false if the chunks must be cast in another way.
  template <Watch kWatch, bool kClamp>
  HWY_NOINLINE static bool vectors(Chunks chunks, float bar, Tally& tally) {
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

  // The errors of a chunk that was cast in vectors.
  template <bool kClamp>
  HWY_NOINLINE static void keep_errors(const Chunk& chunk, Errors& errors) {
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

// The way in which a chunk is cast. The next chunk is first tried in the same way.
enum class Way : std::uint8_t { vectors, clamping_vectors, loops };

// Body::loop<kWatch>(chunk, bar, errors): casts anything. Body::kMaxToZero: the largest magnitude
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

// Casts in vectors, in the first way from `way` on that can. Returns that way, or the one for
// loops.
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

template <typename Body, Watch kWatch>
HWY_NOINLINE Tally by_loop(const Chunk& chunk, float bar, Errors* errors) {
  return Body::template loop<kWatch>(chunk, bar, errors);
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

// The errors of a chunk that was cast in this way.
template <typename Body>
HWY_INLINE void keep_errors(Way way, const Chunk& chunk, float bar, Errors& errors) {
  if constexpr (Body::kInVectors) {
    if (way == Way::vectors) return Body::template keep_errors<false>(chunk, errors);
    if constexpr (Body::kClampsInVectors)
      if (way == Way::clamping_vectors) return Body::template keep_errors<true>(chunk, errors);
  }
  by_loop<Body, Watch::each>(chunk, bar, &errors);
}

template <typename Body>
HWY_NOINLINE void cast_chunk(const Chunk& chunk, Way& way, LossAccount& account) {
  const float bar = relative_bar(account.max_rel);
  Tally tally;
  const Way taken = take<Body>(way, Chunks(&chunk, 1), account, tally);
  if (taken == Way::loops) {
    tally = streamed<Body>(chunk, [&](const Chunk& some) HWY_ATTR {
      return by_loop<Body, Watch::relative>(some, bar, nullptr);
    });
    // Elements that become zero have errors above every bar.
    if (tally.record) tally.to_zero = count_to_zero(chunk, Body::kMaxToZero);
  }
  way = next_way<Body>(tally);
  add_tally<Body>(tally, account);
  if (tally.record && account.max_rel < 1) {
    Errors errors;
    keep_errors<Body>(taken, chunk, bar, errors);
    settle_quotients(errors, chunk.count, account);
  }
  // Vectors have included these errors already, loops have not.
  if (Body::kClamps && tally.overflowed > 0 && (tally.record || taken == Way::loops))
    settle_clamped(chunk, Body::kLow, Body::kHigh, account);
}

// Casts short runs, several with one tally: a tally for each would take as long as the run itself.
template <typename Body>
HWY_INLINE void cast_short_runs(const CastRuns& work, LossAccount& account) {
  account.elements += work.runs * work.count;
  constexpr std::size_t kMax = 16;
  std::array<Chunk, kMax> chunks;
  const std::size_t together = std::clamp<std::size_t>(kChunk / work.count, 1, kMax);
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

// Lets a benchmark measure the cost of the account.
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
