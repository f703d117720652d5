#include "fit/measure/tensor_measure.h"

#include <algorithm>
#include <array>

#include "btf/try.h"

namespace btf {

void TensorMeasure::take(std::span<const double> numbers, const NarrowType& type) {
  // Without branches, but for what is no number: that is rare.
  double most = largest;
  double least = smallest == 0 ? HUGE_VAL : smallest;
  double run_squares = 0;
  double run_errors = 0;
  std::uint64_t run_lost = 0;
  bool odd = false;
  for (const double x : numbers) {
    const double size = std::abs(x);
    const double rounded = type.round(x);
    odd |= !(size <= type.limit());
    most = std::max(most, size);
    least = std::min(least, size > 0 ? size : HUGE_VAL);
    run_lost += static_cast<std::uint64_t>((rounded == 0) & (size > 0));
    run_squares += x * x;
    run_errors += (rounded - x) * (rounded - x);
  }
  if (odd) return take_odd(numbers, type);
  elements += numbers.size();
  largest = most;
  smallest = least == HUGE_VAL ? 0 : least;
  squares += run_squares;
  error_squares += run_errors;
  lost += run_lost;
}

void TensorMeasure::take_odd(std::span<const double> numbers, const NarrowType& type) {
  double least = smallest == 0 ? HUGE_VAL : smallest;
  for (const double x : numbers) {
    const double size = std::abs(x);
    if (!(size < HUGE_VAL)) {
      (std::isnan(x) ? nan : infinite) += 1;
      continue;
    }
    const double rounded = type.round(x);
    largest = std::max(largest, size);
    least = x != 0 ? std::min(least, size) : least;
    above += size > type.limit() ? 1 : 0;
    lost += x != 0 && rounded == 0 ? 1 : 0;
    squares += x * x;
    if (std::isinf(rounded)) {
      ++beyond;
      continue;
    }
    error_squares += (rounded - x) * (rounded - x);
  }
  elements += numbers.size();
  smallest = least == HUGE_VAL ? 0 : least;
}

void TensorMeasure::add(const TensorMeasure& other) {
  elements += other.elements;
  nan += other.nan;
  infinite += other.infinite;
  largest = std::max(largest, other.largest);
  if (smallest == 0 || (other.smallest > 0 && other.smallest < smallest)) smallest = other.smallest;
  squares += other.squares;
  error_squares += other.error_squares;
  above += other.above;
  beyond += other.beyond;
  lost += other.lost;
}

Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type) {
  TensorMeasure measure;
  std::array<double, kFitRun> run;
  for (std::uint64_t first = 0; first < numbers.elements(); first += kFitRun) {
    const auto some = std::span(run).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, numbers.elements() - first)));
    BTF_TRY(numbers.read(first, some));
    measure.take(some, type);
  }
  return measure;
}

}  // namespace btf
