// The signal-to-noise ratio of what is written: 10 log10(sum x^2 / sum (y - x)^2) dB for numbers x
// that became y.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"
#include "kernels/number/exact_sum.h"
#include "kernels/number/number.h"

namespace btf {

// Both sums are exact, so that neither threads nor the order of elements change the result.
class Noise {
 public:
  // NaN that stays NaN, and Inf that stays Inf, count for nothing; any other pair that is not
  // finite on both sides is an error without bound.
  void add(const Number& x, const Number& y, std::uint64_t times = 1);
  void add(const Noise& other);

  // Inf where nothing changed; -Inf where an error has no bound, or nothing but zeros changed.
  double decibels() const;

 private:
  ExactSum signal_;
  ExactSum error_;
  bool unbounded_ = false;
};

// n elements on both sides; strides in elements of buffer_bytes().
struct NoiseRun {
  const std::byte* source = nullptr;
  const std::byte* target = nullptr;
  std::uint64_t n = 0;
  std::uint64_t source_stride = 1;
  std::uint64_t target_stride = 1;
};

void measure_noise(DType from, DType to, const NoiseRun& run, Noise& noise);

}  // namespace btf
