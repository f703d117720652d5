// Elements as real numbers, chunk by chunk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "btf/dtype.h"
#include "kernels/cast/cast_runs.h"
#include "kernels/number/widen.h"

namespace btf {

// The most elements that are read together.
inline constexpr std::uint64_t kPairRun = 1024;

// Elements of one dtype as Real: float, double or long double.
template <typename Real>
class RealValues {
 public:
  explicit RealValues(DType dtype) : widen_(widener<Real>(dtype)) {}

  // At most kPairRun of them. Valid until the next call, and as long as the codes.
  const Real* of(const std::byte* codes, std::uint64_t stride, std::uint64_t count) {
    widen_(codes, stride, count, values_.data());
    return values_.data();
  }

 private:
  WidenFn<Real> widen_;
  std::array<Real, kPairRun> values_;
};

// Does a float hold every value, and is there a fast way to it?
inline bool fits_float(DType dtype) {
  return dtype == DType::float32 ||
         (is_lossless(dtype, DType::float32) && find_cast_runs(dtype, DType::float32) != nullptr);
}

// float32 is read in place.
template <>
class RealValues<float> {
 public:
  explicit RealValues(DType dtype)
      : bytes_(info(dtype).buffer_bytes()), cast_(find_cast_runs(dtype, DType::float32)) {}

  const float* of(const std::byte* codes, std::uint64_t stride, std::uint64_t count) {
    if (stride != 1) {
      for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(side_by_side_.data() + i * bytes_, codes + i * stride * bytes_, bytes_);
      codes = side_by_side_.data();
    }
    if (cast_ == nullptr && reinterpret_cast<std::uintptr_t>(codes) % alignof(float) == 0)
      return reinterpret_cast<const float*>(codes);
    auto* const target = reinterpret_cast<std::byte*>(values_.data());
    if (cast_ == nullptr) {
      std::memcpy(target, codes, count * sizeof(float));
    } else {
      LossAccount none;
      cast_({.source = codes, .target = target, .count = count}, none);
    }
    return values_.data();
  }

 private:
  std::uint64_t bytes_;
  CastRunsFn cast_;  // nullptr: it is float32
  std::array<float, kPairRun> values_;
  alignas(float) std::array<std::byte, kPairRun * sizeof(float)> side_by_side_;
};

}  // namespace btf
