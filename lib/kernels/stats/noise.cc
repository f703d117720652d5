#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/cast/cast_reference.h"
#include "kernels/stats/stats.h"

namespace btf {
namespace {

bool is_real(const Number& x) {
  return x.kind == Number::Class::zero || x.kind == Number::Class::finite;
}

// log10 of a positive number, which may be beyond the range of a double.
double log10_of(const Number& x) {
  const double significand = std::ldexp(static_cast<double>(x.significand), -63);
  return std::log10(significand) + x.exponent * std::log10(2.0);
}

}  // namespace

void Noise::add(const Number& x, const Number& y, std::uint64_t times) {
  if (!is_real(x) || !is_real(y)) {
    const bool kept =
        x.kind == y.kind && (x.kind == Number::Class::nan || x.negative == y.negative);
    unbounded_ = unbounded_ || (!kept && times != 0);
    return;
  }
  signal_.add_product(x, x, times);
  if (x.significand == y.significand && x.exponent == y.exponent && x.negative == y.negative)
    return;
  // (y - x)^2 = x^2 + y^2 - 2xy
  error_.add_product(x, x, times);
  error_.add_product(y, y, times);
  const Number other{x.significand, x.exponent + 1, !x.negative, x.kind};
  error_.add_product(other, y, times);
}

void Noise::add(const Noise& other) {
  signal_.add(other.signal_);
  error_.add(other.error_);
  unbounded_ = unbounded_ || other.unbounded_;
}

double Noise::decibels() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Number error = error_.number();
  const Number signal = signal_.number();
  if (unbounded_) return -kInfinity;
  if (error.kind == Number::Class::zero) return kInfinity;
  if (signal.kind == Number::Class::zero) return -kInfinity;
  return 10 * (log10_of(signal) - log10_of(error));
}

void measure_noise(DType from, DType to, const NoiseRun& run, Noise& noise) {
  constexpr std::uint64_t kChunk = 256;
  std::array<Number, kChunk> before;
  std::array<Number, kChunk> after;
  const std::uint64_t source_step = run.source_stride * info(from).buffer_bytes();
  const std::uint64_t target_step = run.target_stride * info(to).buffer_bytes();
  for (std::uint64_t at = 0; at < run.n; at += kChunk) {
    const std::uint64_t count = std::min(kChunk, run.n - at);
    decoder(from)(run.source + at * source_step, run.source_stride, count, before.data());
    decoder(to)(run.target + at * target_step, run.target_stride, count, after.data());
    for (std::uint64_t i = 0; i < count; ++i) noise.add(before[i], after[i]);
  }
}

}  // namespace btf
