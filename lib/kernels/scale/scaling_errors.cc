// Sums are kept in eight lanes, whatever the width of vectors, so that all instruction sets give
// the same results.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/scale/scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scale/scaling_errors.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/narrow/narrow_targets-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSumLanes = 8;
constexpr std::size_t kWidth = hn::MaxLanes(DoubleTag());
constexpr std::size_t kVectors = kSumLanes / kWidth;

// Set masks are -1.
HWY_INLINE Words count_where(Words counted, Lanes where) {
  return hn::Sub(counted, words_of(hn::VecFromMask(kDoubles, where)));
}

template <typename Target, bool kEach>
class ErrorSums {
 public:
  HWY_INLINE ErrorSums(const Narrowing& to, double scale)
      : target_(to), scale_(all(scale)), clipped_(hn::Zero(kWords)), lost_(hn::Zero(kWords)) {
    for (Doubles& sums : squares_) sums = hn::Zero(kDoubles);
  }

  // kSumLanes numbers, and kSumLanes scales if each has its own.
  HWY_INLINE void add(const double* numbers, const double* scales) {
    const Doubles zero = hn::Zero(kDoubles);
    const Doubles infinity = all(std::numeric_limits<double>::infinity());
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Doubles read = hn::LoadU(kDoubles, numbers + v * kWidth);
      const Doubles x = hn::IfThenElseZero(hn::Lt(hn::Abs(read), infinity), read);
      const Doubles scale = kEach ? hn::LoadU(kDoubles, scales + v * kWidth) : scale_;
      const Narrowed result = target_.narrow(hn::Div(x, scale), zero);
      const Doubles error = hn::Sub(hn::Mul(result.values, scale), x);
      squares_[v] = hn::Add(squares_[v], hn::Mul(error, error));
      clipped_ = count_where(clipped_, result.over);
      lost_ = count_where(lost_, hn::And(hn::Eq(result.values, zero), hn::Ne(x, zero)));
    }
  }

  HWY_INLINE ScalingErrors total() const {
    ScalingErrors errors;
    std::array<double, kSumLanes> lanes;
    for (std::size_t v = 0; v < kVectors; ++v)
      hn::StoreU(squares_[v], kDoubles, lanes.data() + v * kWidth);
    for (const double lane : lanes) errors.squares += lane;
    errors.clipped = hn::GetLane(hn::SumOfLanes(kWords, clipped_));
    errors.lost = hn::GetLane(hn::SumOfLanes(kWords, lost_));
    return errors;
  }

 private:
  Target target_;
  Doubles scale_;
  Doubles squares_[kVectors];
  Words clipped_;
  Words lost_;
};

template <typename Target, bool kEach>
HWY_INLINE ScalingErrors errors_of(const Narrowing& to, const double* numbers, std::size_t count,
                                   const double* scales) {
  ErrorSums<Target, kEach> sums(to, *scales);
  std::size_t at = 0;
  for (; count - at >= kSumLanes; at += kSumLanes)
    sums.add(numbers + at, kEach ? scales + at : scales);
  if (at < count) {
    // Zeros with any scale have no error.
    std::array<double, kSumLanes> tail{};
    std::array<double, kSumLanes> tail_scales;
    for (double& scale : tail_scales) scale = 1;
    for (std::size_t i = 0; i < count - at; ++i) {
      tail[i] = numbers[at + i];
      if (kEach) tail_scales[i] = scales[at + i];
    }
    sums.add(tail.data(), tail_scales.data());
  }
  return sums.total();
}

template <bool kEach>
HWY_INLINE ScalingErrors errors_of_kind(const Narrowing& to, const double* numbers,
                                        std::size_t count, const double* scales) {
  return to.kind == TargetKind::floating
             ? errors_of<ToFloating, kEach>(to, numbers, count, scales)
             : errors_of<ToInteger32, kEach>(to, numbers, count, scales);
}

ScalingErrors errors_by_one(const Narrowing& to, const double* numbers, std::size_t count,
                            double scale) {
  return errors_of_kind<false>(to, numbers, count, &scale);
}

ScalingErrors errors_by_each(const Narrowing& to, const double* numbers, std::size_t count,
                             const double* scales) {
  return count == 0 ? ScalingErrors{} : errors_of_kind<true>(to, numbers, count, scales);
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

ScalingErrors scaling_errors(const Narrowing& to, const double* numbers, std::size_t count,
                             double scale) {
  return BTF_SIMD_CALL(errors_by_one)(to, numbers, count, scale);
}

ScalingErrors scaling_errors_each(const Narrowing& to, const double* numbers, std::size_t count,
                                  const double* scales) {
  return BTF_SIMD_CALL(errors_by_each)(to, numbers, count, scales);
}

Narrowing scaled_codes(DType to) {
  CastPolicy policy;
  policy.rounding = Rounding::nearest;
  return make_narrowing(to, policy);
}

}  // namespace btf
#endif
