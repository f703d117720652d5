// Grids that numbers are seen to stand on.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "kernels/number/steps.h"

namespace btf::hints {

// Numbers of limited significant bits, none of them below `least`.
class BinaryGrid {
 public:
  // The coarsest that has all of these; nothing if they are all 0.
  static std::optional<BinaryGrid> of(const std::vector<long double>& numbers);

  bool has(long double number) const;
  // Is `number` less than a step of the grid away from `other`?
  bool less_than_a_step(long double other, long double number) const;
  // From `number` to the next.
  long double step_at(long double number) const;

  int precision() const { return precision_; }
  int least() const { return least_; }

 private:
  int precision_ = 0;
  int least_ = std::numeric_limits<int>::max();
};

// Numbers some multiple of a step apart, give or take what float32 makes of them.
class EvenGrid {
 public:
  static std::optional<EvenGrid> of(std::vector<long double> numbers);

  bool has(long double number) const;
  bool less_than_a_step(long double other, long double number) const;

  long double step() const { return step_; }

 private:
  // The greatest common divisor of both, by Euclid.
  long double common(long double a, long double b) const;

  long double first_ = 0;
  long double step_ = 0;
  long double blur_ = 0;
};

// The step of a dtype's grid at this number.
long double step_of(const StepGrid& grid, long double number);

}  // namespace btf::hints
