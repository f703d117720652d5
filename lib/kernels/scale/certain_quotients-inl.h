// Casts quotients of a chunk to integers in the usual case: one scale for all, finite numbers that
// are far enough from a tie, and no new largest error except for clamped numbers. A few figures
// show after the chunk whether that was so.
#if defined(BTF_KERNELS_SCALE_CERTAIN_QUOTIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_SCALE_CERTAIN_QUOTIENTS_INL_H
#undef BTF_KERNELS_SCALE_CERTAIN_QUOTIENTS_INL_H
#else
#define BTF_KERNELS_SCALE_CERTAIN_QUOTIENTS_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/scale/float_targets-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#if BTF_FLOAT_LANES

namespace hn = hwy::HWY_NAMESPACE;

// A float whose last digit is 1: adding a number to it rounds that to an integer, ties to even,
// which is the difference of the bits.
constexpr float kToInteger = 0x1.8p23F;

// The rounded quotients of numbers up to this many scales fit into those bits.
constexpr float kMaxScales = 0x1p21F;

const hn::ScalableTag<std::uint8_t> kCodes;
using Codes = hn::Vec<hn::ScalableTag<std::uint8_t>>;

// The figures of a chunk.
struct CleanTally {
  std::uint64_t overflowed = 0;
  std::uint64_t changed = 0;  // numbers within the range that have an error
  std::uint64_t to_zero = 0;  // those of them that became zero
  float largest = 0;          // number
  float least = 0;
  // The largest distance of a quotient to the rounded one before clamping; NaN if a number was NaN
  // or Inf.
  float error = 0;
  bool record = false;  // the largest relative error may grow
};

// kExact: errors are floats. kRelative: the largest relative error may grow.
template <bool kExact, bool kRelative>
class CertainQuotients {
 public:
  HWY_INLINE CertainQuotients(const Narrowing& to, const FloatChunk& chunk, float relative)
      : high_(hn::Set(kFloats, *chunk.high)),
        low_(hn::Set(kFloats, *chunk.low)),
        inverse_(hn::Set(kFloats, *chunk.inverse)),
        relative_(hn::Set(kFloats, relative)),
        to_steps_(hn::Set(kInts, zero_step(to, chunk) - std::bit_cast<std::int32_t>(kToInteger))),
        beyond_(hn::Set(kInts, -static_cast<std::int32_t>(to.modulus))),
        last_(hn::Set(kCodes, static_cast<std::uint8_t>(to.modulus - 1))),
        lowest_(hn::Set(kCodes, static_cast<std::uint8_t>(static_cast<std::int32_t>(to.least)))),
        largest_(hn::Zero(kFloats)),
        least_(hn::Zero(kFloats)),
        record_(hn::Zero(kFloats)),
        error_(hn::Zero(kInts)) {}

  HWY_INLINE void block(const float* source, std::byte* target) {
    Ints steps[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
      steps[v] = one(hn::LoadU(kFloats, source + v * kLanes));
    const Shorts first = hn::ReorderDemote2To(kShorts, steps[0], steps[1]);
    const Shorts second = hn::ReorderDemote2To(kShorts, steps[2], steps[3]);
    const auto packed = in_order<4, std::int32_t>(pack<false>(first, second));
    const Codes codes = hn::Min(hn::BitCast(kCodes, packed), last_);
    hn::StoreU(hn::And(hn::Add(codes, lowest_), last_), kCodes,
               reinterpret_cast<std::uint8_t*>(target));
    seen_ += kBlock;
  }

  HWY_INLINE CleanTally tally() const {
    const auto record = hn::Lt(hn::BitCast(kInts, record_), hn::Zero(kInts));
    return {.overflowed = overflowed_,
            .changed = (kExact ? changed_ : seen_ - zeros_) - overflowed_,
            .to_zero = zero_values_ - zeros_,
            .largest = hn::GetLane(hn::MaxOfLanes(kFloats, largest_)),
            .least = hn::GetLane(hn::MinOfLanes(kFloats, least_)),
            .error = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(kInts, error_))),
            .record = kRelative && !hn::AllFalse(kInts, record)};
  }

 private:
  // Steps are the codes before clamping, counted from the least one.
  static HWY_INLINE std::int32_t zero_step(const Narrowing& to, const FloatChunk& chunk) {
    return static_cast<std::int32_t>(chunk.zero_point) - static_cast<std::int32_t>(to.least);
  }

  HWY_INLINE Ints one(Floats x) {
    const Floats zero = hn::Zero(kFloats);
    const Floats base = hn::Set(kFloats, kToInteger);
    const Floats sum = hn::MulAdd(x, inverse_, base);
    const Floats value = hn::Sub(sum, base);
    const Ints steps = hn::Add(hn::BitCast(kInts, sum), to_steps_);
    const auto over = hn::Ne(hn::And(steps, beyond_), hn::Zero(kInts));
    Floats error = hn::NegMulAdd(value, high_, x);
    if constexpr (!kExact) error = hn::NegMulAdd(value, low_, error);
    error = hn::Abs(error);
    // Compares bits, which keeps NaN.
    error_ = hn::Max(error_, hn::BitCast(kInts, error));
    largest_ = hn::Max(largest_, x);
    least_ = hn::Min(least_, x);
    overflowed_ += count_of(kInts, over);
    zeros_ += count_of(kFloats, hn::Eq(x, zero));
    zero_values_ += count_of(kFloats, hn::Eq(value, zero));
    if constexpr (kExact) {
      // Beyond the range any error counts.
      const auto differs = hn::Or(hn::Ne(error, zero), hn::RebindMask(kFloats, over));
      changed_ += count_of(kFloats, differs);
    }
    if constexpr (kRelative) record_ = hn::Or(record_, hn::MulSub(relative_, hn::Abs(x), error));
    return steps;
  }

  Floats high_;
  Floats low_;
  Floats inverse_;
  Floats relative_;
  Ints to_steps_;
  Ints beyond_;
  Codes last_;
  Codes lowest_;
  Floats largest_;
  Floats least_;
  Floats record_;
  Ints error_;
  std::uint64_t seen_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t zeros_ = 0;
  std::uint64_t zero_values_ = 0;
  std::uint64_t changed_ = 0;
};

// The errors of clamped numbers grow with the number, and so do relative errors, which differ by
// more than their rounding. A number that is not clamped has this error if its code is the last
// one.
HWY_INLINE void settle_ends(const Narrowing& to, const FloatChunk& chunk, const CleanTally& tally,
                            LossAccount& account) {
  const auto settle = [&](double x, double end, double direction) BTF_INLINE_LAMBDA {
    const double value = end - static_cast<double>(chunk.zero_point);
    const double error = direction * std::fma(-value, chunk.scale, x);
    if (error < chunk.scale / 4) return;
    account.max_abs = std::max(account.max_abs, error);
    account.max_rel = std::max(account.max_rel, error / std::abs(x));
  };
  settle(static_cast<double>(tally.largest), to.most, 1);
  settle(static_cast<double>(tally.least), to.least, -1);
}

// The largest error with which a code is certain. A quotient by a power of two is exact, and so is
// its rounding.
HWY_INLINE float most_clean_error(const FloatChunk& chunk) {
  const float half = *chunk.high / 2;
  if (chunk.powers) return half;
  return chunk.floats ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(half) - 1)
                      : half * (1 - 0x1p-19F);
}

#endif

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
