// The largest relative error of a chunk in which there may be a new one.
#if defined(BTF_KERNELS_CAST_SETTLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BTF_KERNELS_CAST_SETTLE_INL_H
#undef BTF_KERNELS_CAST_SETTLE_INL_H
#else
#define BTF_KERNELS_CAST_SETTLE_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/cast/cast_loop.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

using namespace cast_loop;
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE double quotient(const Errors& errors, std::size_t i) {
  return as_double(errors.error[i]) / as_double(errors.magnitude[i]);
}

// Data of few different values have the largest quotient in every chunk; these shall not cost a
// division per element. Quotients of two floats are equal or differ by more than 2^-49 of their
// size. So if one element near the largest so far has exactly that one, all elements as near have.
HWY_INLINE bool has_larger_quotient(const Errors& errors, std::size_t count, double max_rel) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  constexpr std::size_t kStep = hn::MaxLanes(d);
  const auto nearly = hn::Set(d, max_rel * (1 - 0x1p-51));
  const auto beyond = hn::Set(d, max_rel * (1 + 0x1p-51));
  const auto at = [&](const std::array<FloatBits, kChunk>& bits, std::size_t i) HWY_ATTR {
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const float*>(bits.data() + i)));
  };
  std::size_t near = count;
  const std::size_t whole = count - count % kStep;
  for (std::size_t i = 0; i < whole; i += kStep) {
    const auto error = at(errors.error, i);
    const auto size = at(errors.magnitude, i);
    if (!hn::AllFalse(d, hn::Gt(error, hn::Mul(beyond, size)))) return true;
    const std::intptr_t found = hn::FindFirstTrue(d, hn::Gt(error, hn::Mul(nearly, size)));
    if (found >= 0) near = i + static_cast<std::size_t>(found);
  }
  for (std::size_t i = whole; i < count; ++i) {
    const double error = as_double(errors.error[i]);
    const double size = as_double(errors.magnitude[i]);
    if (error > hn::GetLane(beyond) * size) return true;
    if (error > hn::GetLane(nearly) * size) near = i;
  }
  return near != count && quotient(errors, near) != max_rel;
}

// In double precision, as the account has it.
HWY_INLINE void settle_quotients(const Errors& errors, std::size_t count, LossAccount& account) {
  if (!has_larger_quotient(errors, count, account.max_rel)) return;
  // Divisions of doubles for those only that are near the largest quotient of floats. No error is
  // less than 2^-24 of its number, so that these are normal.
  FloatBits largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const FloatBits bits = std::bit_cast<FloatBits>(std::bit_cast<float>(errors.error[i]) /
                                                    std::bit_cast<float>(errors.magnitude[i]));
    largest = std::max(largest, bits & sign_mask(0 - errors.error[i]));  // 0 / 0 is no quotient
  }
  const double close = as_double(largest) * (1 - 0x1p-20);
  for (std::size_t i = 0; i < count; ++i)
    if (as_double(errors.error[i]) > close * as_double(errors.magnitude[i]))
      account.max_rel = std::max(account.max_rel, quotient(errors, i));
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
