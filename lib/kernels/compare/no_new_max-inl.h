// Checks a run of floats in vectors of floats, which have twice the lanes of doubles. Sums and
// products of floats are rounded, so every limit is moved by more than that; pairs close to a limit
// are left to doubles.
#if defined(BTF_KERNELS_COMPARE_NO_NEW_MAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_COMPARE_NO_NEW_MAX_INL_H
#undef BTF_KERNELS_COMPARE_NO_NEW_MAX_INL_H
#else
#define BTF_KERNELS_COMPARE_NO_NEW_MAX_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/compare/compare.h"
#include "kernels/compare/pair_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

class NoNewMaximum {
 public:
  HWY_INLINE NoNewMaximum(const Judge& judge, const CompareScore& score) {
    const double relative = std::min(score.max_rel, score.least_rtol);
    const bool any_relative = std::isinf(relative);
    max_abs_ = set(at_most(score.max_abs * kLess));
    relative_ = set(any_relative ? 0 : at_most(relative * kLess));
    floor_ = set(any_relative ? kMax : 0);
    accepted_ =
        !judge.by_error || score.max_abs <= judge.atol || (!any_relative && relative <= judge.rtol);
    possible_ = accepted_ || (judge.atol < kLargeLimit && judge.rtol < kLargeLimit);
    accepted_rtol_ = accepted_atol_ = refused_rtol_ = refused_atol_ = set(0);
    if (accepted_ || !possible_) return;
    accepted_rtol_ = set(at_most(judge.rtol * kLess));
    accepted_atol_ = set(at_most(judge.atol * kLess) - kTiny);
    refused_rtol_ = set(at_least(judge.rtol * kMore));
    refused_atol_ = set(at_least(judge.atol * kMore + kTiny));
  }

  // The figures of a run in which no pair is undecided.
  struct Seen {
    std::uint64_t refused = 0;
    std::uint32_t furthest = 0;  // the largest number of steps, if steps are limited
  };

  // Unset unless all numbers are finite, no maximum grows and no error is close to its limit.
  template <bool kSteps>
  HWY_INLINE std::optional<Seen> look(const float* actual, const float* golden,
                                      std::uint64_t count) const {
    if (!possible_) return {};
    return accepted_ ? look_as<true, kSteps>(actual, golden, count)
                     : look_as<false, kSteps>(actual, golden, count);
  }

 private:
  using D = hn::ScalableTag<float>;
  using W = hn::RebindToUnsigned<D>;
  using S = hn::RebindToSigned<D>;
  using Vec = hn::Vec<D>;
  using Words = hn::Vec<W>;

  static constexpr float kMax = std::numeric_limits<float>::max();
  // Bounds of the rounding errors: about 2^-22 of a limit, and 2^-148 if floats are subnormal.
  static constexpr double kLess = 1 - 0x1p-20;
  static constexpr double kMore = 1 + 0x1p-20;
  static constexpr float kTiny = 0x1p-126F;
  static constexpr double kLargeLimit = 0x1p100;

  struct Found {
    Words furthest, refused, unclear;

    HWY_INLINE Found() { furthest = refused = unclear = hn::Zero(W()); }
  };

  HWY_INLINE static Vec set(float x) { return hn::Set(D(), x); }
  // The next float in one direction, of a non-negative number.
  static float at_most(double x) {
    if (x >= kMax) return kMax;
    const auto near = static_cast<float>(x);
    return near > x ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1) : near;
  }
  static float at_least(double x) {
    const auto near = static_cast<float>(x);
    return near < x ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) + 1) : near;
  }

  HWY_INLINE static Words words(hn::Mask<D> where) {
    return hn::BitCast(W(), hn::VecFromMask(D(), where));
  }

  // The position of a float is that of its bits, negated below zero.
  HWY_INLINE static Words steps(Vec a, Vec g, Vec actual_size, Vec golden_size) {
    const auto left = hn::BitCast(S(), actual_size);
    const auto right = hn::BitCast(S(), golden_size);
    const auto across = hn::Add(left, right);
    const auto along = hn::Abs(hn::Sub(left, right));
    return hn::BitCast(W(), hn::IfNegativeThenElse(hn::BitCast(S(), hn::Xor(a, g)), across, along));
  }

  template <bool kAccepted, bool kSteps>
  HWY_INLINE void add(Vec a, Vec g, Found& found) const {
    const Vec error = hn::Abs(hn::Sub(a, g));
    const Vec size = hn::Abs(g);
    const Vec relative = hn::Max(hn::Sub(hn::Mul(size, relative_), set(kTiny)), floor_);
    // NaN is not less than anything, and Inf exceeds every maximum.
    const hn::Mask<D> unclear = hn::Not(hn::Le(error, hn::Min(relative, max_abs_)));
    if constexpr (!kAccepted) {
      const Vec least = hn::Max(hn::Add(hn::Mul(size, accepted_rtol_), accepted_atol_), set(0));
      const Vec most = hn::Add(hn::Mul(size, refused_rtol_), refused_atol_);
      const Words refused = words(hn::Gt(error, most));
      found.refused = hn::Sub(found.refused, refused);
      found.unclear = hn::Or(found.unclear, hn::Xor(words(hn::Gt(error, least)), refused));
    }
    found.unclear = hn::Or(found.unclear, words(unclear));
    if constexpr (kSteps) found.furthest = hn::Max(found.furthest, steps(a, g, hn::Abs(a), size));
  }

  template <bool kAccepted, bool kSteps>
  HWY_INLINE std::optional<Seen> look_as(const float* actual, const float* golden,
                                         std::uint64_t count) const {
    Found found;
    for_each_float_vector(actual, golden, count,
                          [&](Vec a, Vec g) HWY_ATTR { add<kAccepted, kSteps>(a, g, found); });
    if (!hn::AllTrue(W(), hn::Eq(found.unclear, hn::Zero(W())))) return {};
    Seen seen{.furthest = largest_lane(W(), found.furthest)};
    for_each_lane(W(), found.refused, [&](std::uint32_t lane) { seen.refused += lane; });
    return seen;
  }

  bool accepted_ = false;  // all errors up to the maximum are accepted
  bool possible_ = false;
  Vec max_abs_, relative_, floor_;
  Vec accepted_rtol_, accepted_atol_, refused_rtol_, refused_atol_;
};

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
