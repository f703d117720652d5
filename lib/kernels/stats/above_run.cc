#include <array>

#include "kernels/cpu/simd_targets.h"
#include "kernels/stats/stats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/above_run.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
HWY_INLINE std::uint64_t first_above(const Real* values, std::uint64_t count, Real limit) {
  const hn::CappedTag<Real, 64 / sizeof(Real)> tag;
  constexpr std::size_t kWidth = hn::MaxLanes(tag);
  const auto most = hn::Set(tag, limit);
  std::uint64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    if (!hn::AllTrue(tag, hn::Le(hn::LoadU(tag, values + i), most))) break;
  while (i < count && *(values + i) <= limit) ++i;
  return i;
}

std::uint64_t above_floats(const float* values, std::uint64_t count, float limit) {
  return first_above(values, count, limit);
}

std::uint64_t above_doubles(const double* values, std::uint64_t count, double limit) {
  return first_above(values, count, limit);
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

std::uint64_t above_run(const float* values, std::uint64_t count, float limit) {
  return BTF_SIMD_CALL(above_floats)(values, count, limit);
}

std::uint64_t above_run(const double* values, std::uint64_t count, double limit) {
  return BTF_SIMD_CALL(above_doubles)(values, count, limit);
}

}  // namespace btf
#endif
