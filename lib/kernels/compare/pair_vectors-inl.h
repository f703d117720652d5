// Vectors of pairs, which the kernels of comparisons share.
#if defined(BTF_KERNELS_COMPARE_PAIR_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_COMPARE_PAIR_VECTORS_INL_H
#undef BTF_KERNELS_COMPARE_PAIR_VECTORS_INL_H
#else
#define BTF_KERNELS_COMPARE_PAIR_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "kernels/number/steps.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using ScoreReal = hn::ScalableTag<double>;
using ScoreWord = hn::RebindToUnsigned<ScoreReal>;
using RealVec = hn::Vec<ScoreReal>;
using PlaceVec = hn::Vec<ScoreWord>;
using RealMask = hn::Mask<ScoreReal>;

constexpr std::size_t kScoreWidth = hn::MaxLanes(ScoreReal());

HWY_INLINE RealVec widened(const double* from) { return hn::LoadU(ScoreReal(), from); }
HWY_INLINE RealVec widened(const float* from) {
  return hn::PromoteTo(ScoreReal(), hn::LoadU(hn::Rebind<float, ScoreReal>(), from));
}

// Calls step(actual, golden) with the addresses of kWidth pairs; the last ones are padded with
// pairs of zeros.
template <std::size_t kWidth, typename Real, typename Step>
HWY_INLINE void for_each_width(const Real* actual, const Real* golden, std::uint64_t count,
                               Step&& step) {
  std::uint64_t at = 0;
  for (; at + kWidth <= count; at += kWidth) step(actual + at, golden + at);
  if (at == count) return;
  std::array<Real, kWidth> last_actual{};
  std::array<Real, kWidth> last_golden{};
  std::copy_n(actual + at, count - at, last_actual.begin());
  std::copy_n(golden + at, count - at, last_golden.begin());
  step(last_actual.data(), last_golden.data());
}

// Calls step(actual, golden) for vectors of doubles.
template <typename Real, typename Step>
HWY_INLINE void for_each_vector(const Real* actual, const Real* golden, std::uint64_t count,
                                Step&& step) {
  for_each_width<kScoreWidth>(actual, golden, count, [&](const Real* a, const Real* g) HWY_ATTR {
    step(widened(a), widened(g));
  });
}

// The same for vectors of floats, without conversion.
template <typename Step>
HWY_INLINE void for_each_float_vector(const float* actual, const float* golden, std::uint64_t count,
                                      Step&& step) {
  const hn::ScalableTag<float> d;
  for_each_width<hn::MaxLanes(hn::ScalableTag<float>())>(
      actual, golden, count,
      [&](const float* a, const float* g) HWY_ATTR { step(hn::LoadU(d, a), hn::LoadU(d, g)); });
}

template <typename D, typename Take>
HWY_INLINE void for_each_lane(D d, hn::Vec<D> lanes, Take&& take) {
  std::array<hn::TFromD<D>, hn::MaxLanes(D())> values;
  hn::StoreU(lanes, d, values.data());
  for (const auto value : values) take(value);
}

template <typename D>
HWY_INLINE auto largest_lane(D d, hn::Vec<D> lanes) {
  hn::TFromD<D> most = 0;
  for_each_lane(d, lanes, [&](auto value) { most = std::max(most, value); });
  return most;
}

// Counts masks, which are -1 if set; and whether any was set.
struct Count {
  PlaceVec lanes;

  HWY_INLINE Count() : lanes(hn::Zero(ScoreWord())) {}
  HWY_INLINE void add(RealMask where) { add(hn::RebindMask(ScoreWord(), where)); }
  HWY_INLINE void add(hn::Mask<ScoreWord> where) {
    lanes = hn::Sub(lanes, hn::VecFromMask(ScoreWord(), where));
  }
  HWY_INLINE bool any() const {
    return !hn::AllTrue(ScoreWord(), hn::Eq(lanes, hn::Zero(ScoreWord())));
  }
  HWY_INLINE std::uint64_t sum() const {
    std::uint64_t total = 0;
    for_each_lane(ScoreWord(), lanes, [&](std::uint64_t lane) { total += lane; });
    return total;
  }
};

// As steps::position().
struct Line {
  PlaceVec half, odd, base, normal_from;
  RealVec small_scale;
  int drop;

  HWY_INLINE explicit Line(const StepGrid& grid)
      : half(hn::Set(ScoreWord(), grid.half)),
        odd(hn::Set(ScoreWord(), grid.odd)),
        base(hn::Set(ScoreWord(), grid.base)),
        normal_from(hn::Set(ScoreWord(), grid.normal_from)),
        small_scale(hn::Set(ScoreReal(), grid.small_scale)),
        drop(grid.drop) {}

  HWY_INLINE PlaceVec position(RealVec x) const {
    const ScoreWord d;
    const RealVec size = hn::Abs(x);
    const PlaceVec bits = hn::BitCast(d, size);
    const PlaceVec down = hn::Sub(hn::ShiftRightSame(bits, drop), base);
    const PlaceVec normal =
        hn::Sub(hn::ShiftRightSame(hn::Add(hn::Add(bits, half), hn::And(down, odd)), drop), base);
    const RealVec shifted = hn::Add(hn::Mul(size, small_scale), hn::Set(ScoreReal(), 0x1p52));
    const PlaceVec small =
        hn::And(hn::BitCast(d, shifted), hn::Set(d, std::uint64_t{0x000fffffffffffff}));
    // Both are less than 2^63.
    const hn::RebindToSigned<ScoreWord> s;
    const auto is_small = hn::Lt(hn::BitCast(s, bits), hn::BitCast(s, normal_from));
    const PlaceVec place = hn::IfThenElse(hn::RebindMask(d, is_small), small, normal);
    const PlaceVec negative = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(s, x)));
    return hn::Sub(hn::Xor(place, negative), negative);
  }

  HWY_INLINE PlaceVec distance(RealVec actual, RealVec golden) const {
    const hn::RebindToSigned<ScoreWord> s;
    const PlaceVec low = position(actual);
    const PlaceVec high = position(golden);
    const auto less =
        hn::RebindMask(ScoreWord(), hn::Lt(hn::BitCast(s, low), hn::BitCast(s, high)));
    return hn::IfThenElse(less, hn::Sub(high, low), hn::Sub(low, high));
  }
};

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
