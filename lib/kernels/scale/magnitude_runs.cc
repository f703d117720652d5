#include "kernels/scale/magnitude_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scale/magnitude_runs.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using Doubles = hn::Vec<DoubleTag>;

const DoubleTag kDoubles;
constexpr std::size_t kLanes = hn::MaxLanes(DoubleTag());

// 0 for Inf and NaN.
HWY_INLINE Doubles magnitude(Doubles x) {
  const Doubles size = hn::Abs(x);
  const auto finite = hn::Lt(size, hn::Set(kDoubles, std::numeric_limits<double>::infinity()));
  return hn::IfThenElseZero(finite, size);
}

HWY_INLINE double magnitude_of_one(double x) { return std::isfinite(x) ? std::abs(x) : 0; }

HWY_INLINE double largest_of(const double* numbers, std::size_t count) {
  Doubles even = hn::Zero(kDoubles);
  Doubles odd = hn::Zero(kDoubles);
  std::size_t i = 0;
  for (; count - i >= 2 * kLanes; i += 2 * kLanes) {
    even = hn::Max(even, magnitude(hn::LoadU(kDoubles, numbers + i)));
    odd = hn::Max(odd, magnitude(hn::LoadU(kDoubles, numbers + i + kLanes)));
  }
  double largest = hn::GetLane(hn::MaxOfLanes(kDoubles, hn::Max(even, odd)));
  for (; i < count; ++i) largest = std::max(largest, magnitude_of_one(numbers[i]));
  return largest;
}

double largest_of_all(const double* numbers, std::size_t count) {
  return largest_of(numbers, count);
}

void largest_of_each(const double* numbers, std::size_t count, double* largest) {
  std::size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) {
    const Doubles size = magnitude(hn::LoadU(kDoubles, numbers + i));
    hn::StoreU(hn::Max(hn::LoadU(kDoubles, largest + i), size), kDoubles, largest + i);
  }
  for (; i < count; ++i) largest[i] = std::max(largest[i], magnitude_of_one(numbers[i]));
}

void largest_of_blocks(const double* numbers, std::size_t count, std::size_t block,
                       double* largest) {
  for (std::size_t at = 0; at < count; at += block)
    *largest++ = largest_of(numbers + at, std::min(block, count - at));
}

// 0 for Inf and NaN.
HWY_INLINE Doubles finite(Doubles x) {
  const auto infinity = hn::Set(kDoubles, std::numeric_limits<double>::infinity());
  return hn::IfThenElseZero(hn::Lt(hn::Abs(x), infinity), x);
}

void range_of_all(const double* numbers, std::size_t count, double& least, double& largest) {
  Doubles low = hn::Zero(kDoubles);
  Doubles high = hn::Zero(kDoubles);
  std::size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) {
    const Doubles x = finite(hn::LoadU(kDoubles, numbers + i));
    low = hn::Min(low, x);
    high = hn::Max(high, x);
  }
  least = std::min(least, hn::GetLane(hn::MinOfLanes(kDoubles, low)));
  largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(kDoubles, high)));
  for (; i < count; ++i) {
    const double x = std::isfinite(numbers[i]) ? numbers[i] : 0;
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
}

void range_of_each(const double* numbers, std::size_t count, double* least, double* largest) {
  std::size_t i = 0;
  for (; count - i >= kLanes; i += kLanes) {
    const Doubles x = finite(hn::LoadU(kDoubles, numbers + i));
    hn::StoreU(hn::Min(hn::LoadU(kDoubles, least + i), x), kDoubles, least + i);
    hn::StoreU(hn::Max(hn::LoadU(kDoubles, largest + i), x), kDoubles, largest + i);
  }
  for (; i < count; ++i) {
    const double x = std::isfinite(numbers[i]) ? numbers[i] : 0;
    least[i] = std::min(least[i], x);
    largest[i] = std::max(largest[i], x);
  }
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

double largest_magnitude(const double* numbers, std::size_t count) {
  return BTF_SIMD_CALL(largest_of_all)(numbers, count);
}

void keep_largest_magnitudes(const double* numbers, std::size_t count, double* largest) {
  BTF_SIMD_CALL(largest_of_each)(numbers, count, largest);
}

void block_magnitudes(const double* numbers, std::size_t count, std::size_t block,
                      double* largest) {
  BTF_SIMD_CALL(largest_of_blocks)(numbers, count, block, largest);
}

void keep_range(const double* numbers, std::size_t count, double& least, double& largest) {
  BTF_SIMD_CALL(range_of_all)(numbers, count, least, largest);
}

void keep_ranges(const double* numbers, std::size_t count, double* least, double* largest) {
  BTF_SIMD_CALL(range_of_each)(numbers, count, least, largest);
}

}  // namespace btf
#endif
