// Sums go lane by lane over eight lanes, however wide the vectors are, so that every instruction
// set rounds alike.
#include "kernels/stats/rounding_sums.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/rounding_sums.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
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
        limit_(hn::Set(kRounded, to.limit)),
        beyond_(hn::Zero(kRounded)),
        largest_(hn::Zero(kRounded)),
        smallest_(hn::Set(kRounded, kInfinity)),
        lost_(hn::Zero(kRounded)) {
    for (std::size_t v = 0; v < kRoundedVectors; ++v) squares_[v] = errors_[v] = hn::Zero(kRounded);
  }

  HWY_INLINE void add(const double* numbers) {
    const Rounded zero = hn::Zero(kRounded);
    const Rounded one = hn::Set(kRounded, 1);
    const Rounded exponent = hn::Set(kRounded, kInfinity);  // its bits alone
    for (std::size_t v = 0; v < kRoundedVectors; ++v) {
      const Rounded x = hn::LoadU(kRounded, numbers + v * kRoundedWidth);
      const Rounded size = hn::Abs(x);
      // Adding a number this large leaves no digits below the type's last one.
      const Rounded large = hn::Mul(hn::Max(hn::And(x, exponent), least_), factor_);
      const Rounded rounded = hn::Sub(hn::Add(x, large), large);
      const Rounded error = hn::Sub(rounded, x);
      squares_[v] = hn::Add(squares_[v], hn::Mul(x, x));
      errors_[v] = hn::Add(errors_[v], hn::Mul(error, error));
      beyond_ = hn::Add(beyond_, hn::IfThenElse(hn::Le(size, limit_), zero, one));
      largest_ = hn::Max(largest_, size);
      const auto nonzero = hn::Gt(size, zero);
      smallest_ = hn::Min(smallest_, hn::IfThenElse(nonzero, size, hn::Set(kRounded, kInfinity)));
      lost_ = hn::Add(lost_, hn::IfThenElseZero(hn::And(hn::Eq(rounded, zero), nonzero), one));
    }
  }

  HWY_INLINE RoundingSums total() const {
    RoundingSums sums;
    sums.within = hn::GetLane(hn::SumOfLanes(kRounded, beyond_)) == 0;
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
    return sums;
  }

 private:
  Rounded least_;
  Rounded factor_;
  Rounded limit_;
  Rounded beyond_;
  Rounded largest_;
  Rounded smallest_;
  Rounded lost_;
  Rounded squares_[kRoundedVectors];
  Rounded errors_[kRoundedVectors];
};

RoundingSums sums_of(const RoundingTo& to, const double* numbers, std::size_t count) {
  Roundings roundings(to);
  std::size_t at = 0;
  for (; count - at >= kSumLanes; at += kSumLanes) roundings.add(numbers + at);
  if (at < count) {
    std::array<double, kSumLanes> tail{};
    std::copy(numbers + at, numbers + count, tail.begin());
    roundings.add(tail.data());
  }
  return roundings.total();
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
