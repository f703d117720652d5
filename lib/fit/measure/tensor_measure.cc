#include "fit/measure/tensor_measure.h"

#include <algorithm>
#include <vector>

#include "btf/try.h"

namespace btf {
namespace {

constexpr std::size_t kReadRun = 8 * kFitRun;  // a read costs as much as thousands of numbers

}  // namespace

void TensorMeasure::take(std::span<const double> numbers, const NarrowType& type) {
  const RoundingSums sums = rounding_sums(type.rounding(), numbers.data(), numbers.size());
  if (!sums.within) return take_odd(numbers, type);
  elements += numbers.size();
  largest = std::max(largest, sums.largest);
  if (sums.smallest < HUGE_VAL)
    smallest = smallest == 0 ? sums.smallest : std::min(smallest, sums.smallest);
  squares += sums.squares;
  error_squares += sums.error_squares;
  lost += sums.lost;
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

Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type, LossyRuns& lossy) {
  TensorMeasure measure;
  lossy = LossyRuns(numbers.elements());
  std::vector<double> read(std::min<std::uint64_t>(kReadRun, numbers.elements()));
  for (std::uint64_t first = 0; first < numbers.elements(); first += kReadRun) {
    const auto some = std::span(read).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kReadRun, numbers.elements() - first)));
    BTF_TRY(numbers.read(first, some));
    for (std::size_t at = 0; at < some.size(); at += kFitRun) {
      const std::uint64_t before = measure.lost + measure.above;
      measure.take(some.subspan(at, std::min(kFitRun, some.size() - at)), type);
      if (measure.lost + measure.above > before) lossy.mark(first + at);
    }
  }
  return measure;
}

}  // namespace btf
