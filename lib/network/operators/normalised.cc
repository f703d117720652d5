#include "network/operators/normalised.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace btf::network {

Estimate Affine::of(Estimate x, std::uint64_t at, double half_step) const {
  if (scale != nullptr) {
    const Estimate s = scale->at(at);
    const double error = x.error * std::abs(s.value) + s.error * (std::abs(x.value) + x.error);
    x = {x.value * s.value, error};
  }
  x.error += half_step * std::abs(x.value);
  if (bias == nullptr) return x;
  const Estimate b = bias->at(at);
  return {x.value + b.value,
          x.error + b.error + kFloat32 * (std::abs(x.value) + std::abs(b.value))};
}

Deviation deviation_of(double variance, double spread, double error, double epsilon) {
  const double low = std::max(0.0, std::sqrt(variance) - spread);
  const double high = std::sqrt(variance) + spread;
  return {.value = std::sqrt(variance + epsilon),
          .low = std::sqrt(std::max(0.0, low * low - error + epsilon)),
          .high = std::sqrt(high * high + error + epsilon)};
}

Estimate over_deviation(double difference, double off, const Deviation& deviation) {
  // What devices make of 0 / 0, or of the root of what is below 0, differs.
  if (deviation.low == 0) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
  const double size = std::abs(difference);
  const double value = size / deviation.value;
  const double high = (size + off) / deviation.low;
  const double low = size > off ? (size - off) / deviation.high : (size - off) / deviation.low;
  return {difference / deviation.value, std::max(high - value, value - low)};
}

Normalised::Normalised(std::vector<Output> outputs, Tensor& x, Groups groups,
                       const NormalForm& form, const Arithmetic& arithmetic)
    : Operator(std::move(outputs)),
      x_(x),
      groups_(std::move(groups)),
      form_(form),
      arithmetic_(arithmetic) {}

Estimate Normalised::element(std::size_t output, std::uint64_t number) {
  if (output == 1)
    return rounded({moments_of(number).mean, moments_of(number).mean_error}, arithmetic_);
  if (output == 2)
    return rounded(over_deviation(1, 4 * kFloat32, moments_of(number).deviation), arithmetic_);
  const Moments& moments = moments_of(groups_.group_of(number));
  const Estimate x = x_.at(number);
  const double off =
      x.error + moments.mean_error + 2 * kFloat32 * (std::abs(x.value) + std::abs(moments.mean));
  Estimate normal = over_deviation(x.value - moments.mean, off, moments.deviation);
  if (std::isinf(normal.error)) return normal;
  normal.error += 4 * kFloat32 * std::abs(normal.value);
  const Affine affine{form_.scale, form_.bias};
  const Estimate found = affine.of(normal, form_.place_of(number), arithmetic_.result);
  return rounded(rounded(found, arithmetic_), arithmetic_);
}

double Normalised::mean_of(std::span<const double> x) const {
  if (form_.about_zero) return 0;
  double sum = 0;
  for (const double number : x) sum += number;
  return sum / static_cast<double>(x.size());
}

void Normalised::of_group(std::span<const double> x, std::span<double> into) const {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double number : x) squares += (number - mean) * (number - mean);
  const double variance = squares / static_cast<double>(x.size());
  const double deviation = std::sqrt(variance + form_.epsilon) + form_.beside_root;
  for (std::size_t i = 0; i < x.size(); ++i) into[i] = (x[i] - mean) / deviation;
}

GroupInside Normalised::inside(std::span<const double> x, const RoundNumber& round) const {
  const double mean = mean_of(x);
  double squares = 0;
  double narrow = 0;
  for (const double number : x) {
    const double apart = round(number - mean);
    squares += apart * apart;
    narrow += round(apart * apart);
  }
  const auto n = static_cast<double>(x.size());
  return {squares, squares / n + form_.epsilon, narrow / n + round(form_.epsilon)};
}

const Moments& Normalised::moments_of(std::uint64_t group) {
  return kept_.get(group, [&] { return find(group); });
}

Moments Normalised::find(std::uint64_t group) {
  Moments moments;
  const auto n = static_cast<double>(groups_.size());
  double magnitude = 0;
  double linear = 0;  // sum of errors
  double squares = 0;
  double error_squares = 0;
  for (std::uint64_t which = 0; which < groups_.size(); ++which) {
    const Estimate x = x_.at(groups_.element(group, which));
    moments.mean += x.value;
    squares += x.value * x.value;
    magnitude += std::abs(x.value);
    linear += x.error;
    error_squares += x.error * x.error;
  }
  const double steps = std::min(n, 4 + std::sqrt(n));
  moments.mean /= n;
  squares /= n;
  moments.mean_error = linear / n + arithmetic_.accumulator * steps * magnitude / n;
  double variance = squares;
  if (form_.about_zero) {
    moments.mean = moments.mean_error = 0;
  } else {
    variance = 0;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const double apart = x_.value(groups_.element(group, which)) - moments.mean;
      variance += apart * apart;
    }
    variance /= n;
  }
  // Devices take the mean of squares less the square of the mean, which cancel, or go through the
  // elements twice.
  const double cancelled = n > 1 ? (4 + std::sqrt(n)) * squares : 0;
  const double error = arithmetic_.accumulator * (steps * variance + cancelled);
  moments.deviation = deviation_of(variance, std::sqrt(error_squares / n), error, form_.epsilon);
  if (form_.beside_root > 0) {
    // Some add it to the variance.
    Deviation& deviation = moments.deviation;
    const double within = std::sqrt(deviation.high * deviation.high + form_.beside_root);
    deviation.value += form_.beside_root;
    deviation.low += form_.beside_root;
    deviation.high = std::max(deviation.high + form_.beside_root, within);
  }
  return moments;
}

}  // namespace btf::network
