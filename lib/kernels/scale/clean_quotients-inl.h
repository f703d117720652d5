// Quotients of a chunk to integers where all is as usual: one scale for all, every quotient within
// the range and far enough from a tie, no error larger than those so far. That shows behind the
// chunk, by a few numbers.
#if defined(BTF_KERNELS_SCALE_CLEAN_QUOTIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_SCALE_CLEAN_QUOTIENTS_INL_H
#undef BTF_KERNELS_SCALE_CLEAN_QUOTIENTS_INL_H
#else
#define BTF_KERNELS_SCALE_CLEAN_QUOTIENTS_INL_H
#endif

#include <bit>

#include "kernels/scale/float_targets-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

#if BTF_FLOAT_LANES

namespace hn = hwy::HWY_NAMESPACE;

// Its last digit is 1: a number that is added to it is rounded to an integer, ties to even, which
// is the difference of the bits.
constexpr float kToInteger = 0x1.8p23F;

struct CleanBars {
  float absolute = 0;  // of errors: none may reach it
  float relative = 0;  // the same of quotients
};

// kExact: errors are floats. kRelative: quotients may be larger than those so far. False if the
// chunk has to be taken in another way: then codes and account are as they were, or to be written
// again.
template <bool kExact, bool kRelative>
class CleanQuotients {
 public:
  HWY_INLINE CleanQuotients(const Narrowing& to, const FloatChunk& chunk, const CleanBars& bars)
      : bars_(bars),
        high_(hn::Set(kFloats, *chunk.high)),
        low_(hn::Set(kFloats, *chunk.low)),
        inverse_(hn::Set(kFloats, *chunk.inverse)),
        least_(hn::Set(kBytes, static_cast<std::int8_t>(static_cast<std::int32_t>(to.least)))),
        mask_(hn::Set(kBytes, static_cast<std::int8_t>(static_cast<std::int32_t>(to.modulus) - 1))),
        zero_(hn::Set(kBytes, static_cast<std::int8_t>(zero_step(to, chunk)))),
        to_steps_(hn::Set(kInts, zero_step(to, chunk) - std::bit_cast<std::int32_t>(kToInteger))),
        beyond_(hn::Set(kInts, -static_cast<std::int32_t>(to.modulus))),
        largest_(hn::Zero(kFloats)),
        record_(hn::Zero(kFloats)),
        steps_(hn::Zero(kInts)) {}

  // Steps are codes from the least one on.
  static HWY_INLINE std::int32_t zero_step(const Narrowing& to, const FloatChunk& chunk) {
    return static_cast<std::int32_t>(chunk.zero_point) - static_cast<std::int32_t>(to.least);
  }

  HWY_INLINE void block(const float* source, std::byte* target) {
    Ints steps[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
      steps[v] = one(hn::LoadU(kFloats, source + v * kLanes));
    const Shorts first = hn::ReorderDemote2To(kShorts, steps[0], steps[1]);
    const Shorts second = hn::ReorderDemote2To(kShorts, steps[2], steps[3]);
    const Bytes bytes =
        hn::BitCast(kBytes, in_order<4, std::int32_t>(pack<false>(first, second)));
    zero_codes_ += hn::CountTrue(kBytes, hn::Eq(bytes, zero_));
    hn::StoreU(hn::And(hn::Add(bytes, least_), mask_), kBytes,
               reinterpret_cast<std::int8_t*>(target));
    seen_ += kBlock;
  }

  HWY_INLINE bool clean(float most_error) const {
    // NaN and what is far beyond have steps beyond, too.
    if (!hn::AllTrue(kInts, hn::Eq(hn::And(steps_, beyond_), hn::Zero(kInts)))) return false;
    if (kRelative && !hn::AllFalse(kInts, hn::Lt(hn::BitCast(kInts, record_), hn::Zero(kInts))))
      return false;
    const float largest = largest_error();
    return largest <= most_error && (kExact || largest < bars_.absolute);
  }
  HWY_INLINE float largest_error() const {
    return hn::GetLane(hn::MaxOfLanes(kFloats, largest_));
  }
  HWY_INLINE std::uint64_t to_zero() const { return zero_codes_ - zeros_; }
  HWY_INLINE std::uint64_t changed() const { return kExact ? changed_ : seen_ - zeros_; }

 private:
  HWY_INLINE Ints one(Floats x) {
    const Floats base = hn::Set(kFloats, kToInteger);
    const Floats sum = hn::MulAdd(x, inverse_, base);
    const Floats value = hn::Sub(sum, base);
    const Ints steps = hn::Add(hn::BitCast(kInts, sum), to_steps_);
    steps_ = hn::Or(steps_, steps);
    Floats error = hn::NegMulAdd(value, high_, x);
    if constexpr (!kExact) error = hn::NegMulAdd(value, low_, error);
    error = hn::Abs(error);
    largest_ = hn::Max(largest_, error);
    if constexpr (kRelative)
      record_ = hn::Or(record_, hn::MulSub(hn::Set(kFloats, bars_.relative), hn::Abs(x), error));
    zeros_ += hn::CountTrue(kFloats, hn::Eq(x, hn::Zero(kFloats)));
    // A scale of more than 24 digits times an integer but 0 is no float.
    if constexpr (kExact)
      changed_ += hn::CountTrue(kFloats, hn::Ne(error, hn::Zero(kFloats)));
    return steps;
  }

  CleanBars bars_;
  Floats high_;
  Floats low_;
  Floats inverse_;
  Bytes least_;
  Bytes mask_;
  Bytes zero_;
  Ints to_steps_;
  Ints beyond_;
  Floats largest_;
  Floats record_;
  Ints steps_;
  std::uint64_t seen_ = 0;
  std::uint64_t zeros_ = 0;
  std::uint64_t zero_codes_ = 0;
  std::uint64_t changed_ = 0;
};

// The largest error that leaves no doubt about a code. A quotient by a power of two is exact, and
// so is its rounding.
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
