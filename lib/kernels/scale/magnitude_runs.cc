#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/scale/scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scale/magnitude_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::ScalableTag<Real>;
template <typename Real>
using Lanes = hn::Vec<Tag<Real>>;

template <typename Real>
constexpr std::size_t kLanes = hn::MaxLanes(Tag<Real>());

// 0 for Inf and NaN.
template <typename Real>
HWY_INLINE Lanes<Real> finite(Lanes<Real> x) {
  const auto infinity = hn::Set(Tag<Real>(), std::numeric_limits<Real>::infinity());
  return hn::IfThenElseZero(hn::Lt(hn::Abs(x), infinity), x);
}

template <typename Real>
HWY_INLINE Lanes<Real> magnitude(const Real* numbers) {
  return hn::Abs(finite<Real>(hn::LoadU(Tag<Real>(), numbers)));
}

template <typename Real>
HWY_INLINE Real magnitude_of_one(Real x) {
  return std::isfinite(x) ? std::abs(x) : 0;
}

template <typename Real>
HWY_INLINE Real largest_of(const Real* numbers, std::size_t count) {
  constexpr std::size_t kStep = kLanes<Real>;
  Lanes<Real> even = hn::Zero(Tag<Real>());
  Lanes<Real> odd = even;
  std::size_t i = 0;
  for (; count - i >= 2 * kStep; i += 2 * kStep) {
    even = hn::Max(even, magnitude(numbers + i));
    odd = hn::Max(odd, magnitude(numbers + i + kStep));
  }
  Real largest = hn::GetLane(hn::MaxOfLanes(Tag<Real>(), hn::Max(even, odd)));
  for (; i < count; ++i) largest = std::max(largest, magnitude_of_one(numbers[i]));
  return largest;
}

template <typename Real>
void largest_of_all(const Real* numbers, std::size_t count, Real& largest) {
  largest = std::max(largest, largest_of(numbers, count));
}

template <typename Real>
void largest_of_each(const Real* numbers, std::size_t count, Real* largest) {
  constexpr std::size_t kStep = kLanes<Real>;
  std::size_t i = 0;
  for (; count - i >= kStep; i += kStep) {
    const Lanes<Real> most = hn::LoadU(Tag<Real>(), largest + i);
    hn::StoreU(hn::Max(most, magnitude(numbers + i)), Tag<Real>(), largest + i);
  }
  for (; i < count; ++i) largest[i] = std::max(largest[i], magnitude_of_one(numbers[i]));
}

template <typename Real>
void largest_of_blocks(const Real* numbers, std::size_t count, std::size_t block, double* largest) {
  for (std::size_t at = 0; at < count; at += block)
    *largest++ = static_cast<double>(largest_of(numbers + at, std::min(block, count - at)));
}

template <typename Real>
void range_of_all(const Real* numbers, std::size_t count, Real& least, Real& largest) {
  constexpr std::size_t kStep = kLanes<Real>;
  Lanes<Real> low = hn::Zero(Tag<Real>());
  Lanes<Real> high = low;
  std::size_t i = 0;
  for (; count - i >= kStep; i += kStep) {
    const Lanes<Real> x = finite<Real>(hn::LoadU(Tag<Real>(), numbers + i));
    low = hn::Min(low, x);
    high = hn::Max(high, x);
  }
  least = std::min(least, hn::GetLane(hn::MinOfLanes(Tag<Real>(), low)));
  largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(Tag<Real>(), high)));
  for (; i < count; ++i) {
    const Real x = std::isfinite(numbers[i]) ? numbers[i] : 0;
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
}

template <typename Real>
void range_of_each(const Real* numbers, std::size_t count, Real* least, Real* largest) {
  constexpr std::size_t kStep = kLanes<Real>;
  std::size_t i = 0;
  for (; count - i >= kStep; i += kStep) {
    const Lanes<Real> x = finite<Real>(hn::LoadU(Tag<Real>(), numbers + i));
    hn::StoreU(hn::Min(hn::LoadU(Tag<Real>(), least + i), x), Tag<Real>(), least + i);
    hn::StoreU(hn::Max(hn::LoadU(Tag<Real>(), largest + i), x), Tag<Real>(), largest + i);
  }
  for (; i < count; ++i) {
    const Real x = std::isfinite(numbers[i]) ? numbers[i] : 0;
    least[i] = std::min(least[i], x);
    largest[i] = std::max(largest[i], x);
  }
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

template <typename Real>
void keep_largest_magnitude(const Real* numbers, std::size_t count, Real& largest) {
  BTF_SIMD_CALL(largest_of_all<Real>)(numbers, count, largest);
}

template <typename Real>
void keep_largest_magnitudes(const Real* numbers, std::size_t count, Real* largest) {
  BTF_SIMD_CALL(largest_of_each<Real>)(numbers, count, largest);
}

template <typename Real>
void block_magnitudes(const Real* numbers, std::size_t count, std::size_t block, double* largest) {
  BTF_SIMD_CALL(largest_of_blocks<Real>)(numbers, count, block, largest);
}

template <typename Real>
void keep_range(const Real* numbers, std::size_t count, Real& least, Real& largest) {
  BTF_SIMD_CALL(range_of_all<Real>)(numbers, count, least, largest);
}

template <typename Real>
void keep_ranges(const Real* numbers, std::size_t count, Real* least, Real* largest) {
  BTF_SIMD_CALL(range_of_each<Real>)(numbers, count, least, largest);
}

#define BTF_MAGNITUDES(Real)                                                            \
  template void keep_largest_magnitude<Real>(const Real*, std::size_t, Real&);          \
  template void keep_largest_magnitudes<Real>(const Real*, std::size_t, Real*);         \
  template void block_magnitudes<Real>(const Real*, std::size_t, std::size_t, double*); \
  template void keep_range<Real>(const Real*, std::size_t, Real&, Real&);               \
  template void keep_ranges<Real>(const Real*, std::size_t, Real*, Real*);

BTF_MAGNITUDES(float)
BTF_MAGNITUDES(double)

#undef BTF_MAGNITUDES

}  // namespace btf
#endif
