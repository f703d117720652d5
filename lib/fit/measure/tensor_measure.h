// One pass over a tensor: its range, and what rounding does to it.
#pragma once

#include <cstdint>
#include <span>

#include "btf/error.h"
#include "fit/measure/narrow_type.h"
#include "fit/measure/numbers.h"
#include "fit/measure/run_plan.h"

namespace btf {

struct TensorMeasure {
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  double largest = 0;        // finite
  double smallest = 0;       // above zero; 0: all are zero
  double squares = 0;        // sum of them
  double error_squares = 0;  // of rounding what is within the type's range
  std::uint64_t above = 0;   // numbers above the type's limit
  std::uint64_t beyond = 0;  // above its largest number
  std::uint64_t lost = 0;    // that become 0

  std::uint64_t finite() const { return elements - nan - infinite; }
  double mean_square() const { return finite() == 0 ? 0 : squares / static_cast<double>(finite()); }
  double rms() const { return std::sqrt(mean_square()); }
  // The error of rounding: root mean square, and relative.
  double noise() const {
    return finite() == 0 ? 0 : std::sqrt(error_squares / static_cast<double>(finite()));
  }
  double error() const { return squares > 0 ? std::sqrt(error_squares / squares) : 0; }

  void take(std::span<const double> numbers, const NarrowType& type);
  void add(const TensorMeasure& other);

 private:
  void take_odd(std::span<const double> numbers, const NarrowType& type);
};

// Marks the runs in which a number vanishes or is above the limit.
Result<TensorMeasure> measure_tensor(Numbers& numbers, const NarrowType& type, LossyRuns& lossy);

}  // namespace btf
