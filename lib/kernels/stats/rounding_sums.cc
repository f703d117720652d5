// Sums are kept in eight lanes, whatever the width of vectors, so that all instruction sets give
// the same results.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/stats/stats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/rounding_sums.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSumLanes = 8;
using RoundedTag = hn::CappedTag<double, kSumLanes>;
using Rounded = hn::Vec<RoundedTag>;
constexpr RoundedTag kRounded;
constexpr std::size_t kRoundedWidth = hn::MaxLanes(kRounded);
constexpr std::size_t kRoundedVectors = kSumLanes / kRoundedWidth;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Roundings {
 public:
  HWY_INLINE explicit Roundings(const RoundingTo& to)
      : least_(hn::Set(kRounded, to.least)),
        factor_(hn::Set(kRounded, to.factor)),
        largest_(hn::Zero(kRounded)),
        smallest_(hn::Set(kRounded, kInfinity)),
        lost_(hn::Zero(kRounded)) {
    for (std::size_t v = 0; v < kRoundedVectors; ++v) squares_[v] = errors_[v] = hn::Zero(kRounded);
  }

  HWY_INLINE void add(const double* numbers) {
    for (std::size_t v = 0; v < kRoundedVectors; ++v) {
      const Rounded x = hn::LoadU(kRounded, numbers + v * kRoundedWidth);
      const Rounded size = hn::Abs(x);
      const Rounded error = hn::Sub(rounded(x), x);
      squares_[v] = hn::Add(squares_[v], hn::Mul(x, x));
      errors_[v] = hn::Add(errors_[v], hn::Mul(error, error));
      largest_ = hn::Max(largest_, size);
      smallest_ =
          hn::Min(smallest_, hn::IfThenElse(nonzero(x), size, hn::Set(kRounded, kInfinity)));
    }
  }

  HWY_INLINE void count_lost(const double* numbers) {
    for (std::size_t v = 0; v < kRoundedVectors; ++v) {
      const Rounded x = hn::LoadU(kRounded, numbers + v * kRoundedWidth);
      const auto lost = hn::And(hn::Eq(rounded(x), hn::Zero(kRounded)), nonzero(x));
      lost_ = hn::Add(lost_, hn::IfThenElseZero(lost, hn::Set(kRounded, 1)));
    }
  }

  // Returns true if any number is lost: then the smallest one is.
  HWY_INLINE bool loses_any() const {
    const Rounded smallest = hn::MinOfLanes(kRounded, smallest_);
    return hn::GetLane(rounded(smallest)) == 0;
  }

  HWY_INLINE RoundingSums total(double limit) const {
    RoundingSums sums;
    sums.largest = hn::GetLane(hn::MaxOfLanes(kRounded, largest_));
    sums.smallest = hn::GetLane(hn::MinOfLanes(kRounded, smallest_));
    sums.lost = static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(kRounded, lost_)));
    std::array<double, kSumLanes> squares;
    std::array<double, kSumLanes> errors;
    for (std::size_t v = 0; v < kRoundedVectors; ++v) {
      hn::StoreU(squares_[v], kRounded, squares.data() + v * kRoundedWidth);
      hn::StoreU(errors_[v], kRounded, errors.data() + v * kRoundedWidth);
    }
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      sums.squares += squares[lane];
      sums.error_squares += errors[lane];
    }
    // The maximum may ignore NaN, the sum does not.
    sums.within = sums.largest <= limit && sums.squares < kInfinity;
    return sums;
  }

 private:
  HWY_INLINE Rounded rounded(Rounded x) const {
    const Rounded exponent = hn::Set(kRounded, kInfinity);  // the mask of the exponent's bits
    // Adding a number this large leaves no digits below the type's last one.
    const Rounded large = hn::Mul(hn::Max(hn::And(x, exponent), least_), factor_);
    return hn::Sub(hn::Add(x, large), large);
  }
  HWY_INLINE static hn::Mask<RoundedTag> nonzero(Rounded x) {
    return hn::Ne(x, hn::Zero(kRounded));
  }

  Rounded least_;
  Rounded factor_;
  Rounded largest_;
  Rounded smallest_;
  Rounded lost_;
  Rounded squares_[kRoundedVectors];
  Rounded errors_[kRoundedVectors];
};

// Calls `visit` with eight numbers at a time, the last of them padded with zeros.
template <typename Visit>
HWY_INLINE void visit_lanes(const double* numbers, std::size_t count, const Visit& visit) {
  std::size_t at = 0;
  for (; count - at >= kSumLanes; at += kSumLanes) visit(numbers + at);
  if (at == count) return;
  std::array<double, kSumLanes> tail{};
  std::copy(numbers + at, numbers + count, tail.begin());
  visit(tail.data());
}

RoundingSums sums_of(const RoundingTo& to, const double* numbers, std::size_t count) {
  Roundings roundings(to);
  visit_lanes(numbers, count, [&](const double* eight) HWY_ATTR { roundings.add(eight); });
  if (roundings.loses_any())
    visit_lanes(numbers, count, [&](const double* eight) HWY_ATTR { roundings.count_lost(eight); });
  return roundings.total(to.limit);
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

RoundingSums rounding_sums(const RoundingTo& to, const double* numbers, std::size_t count) {
  return BTF_SIMD_CALL(sums_of)(to, numbers, count);
}

}  // namespace btf
#endif
