#include "diff/hints/evidence/number_grids.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace btf::hints {
namespace {

struct Bits {
  int exponent = 0;  // of the leading one
  int last = 0;      // of the last one
};

Bits bits_of(long double value) {
  int exponent = 0;
  const long double fraction = std::frexp(std::abs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  return {exponent - 1, exponent - 64 + std::countr_zero(mantissa)};
}

// The last bit of numbers of this size.
int last_of(const Bits& bits, const BinaryGrid& grid) {
  return std::max(bits.exponent - grid.precision() + 1, grid.least());
}

}  // namespace

std::optional<BinaryGrid> BinaryGrid::of(const std::vector<long double>& numbers) {
  BinaryGrid grid;
  for (const long double number : numbers) {
    if (number == 0) continue;
    const Bits bits = bits_of(number);
    grid.precision_ = std::max(grid.precision_, bits.exponent - bits.last + 1);
    grid.least_ = std::min(grid.least_, bits.last);
  }
  if (grid.precision_ == 0) return std::nullopt;
  return grid;
}

bool BinaryGrid::has(long double number) const {
  if (number == 0) return true;
  const Bits bits = bits_of(number);
  return bits.last >= last_of(bits, *this);
}

bool BinaryGrid::less_than_a_step(long double other, long double number) const {
  if (other == 0) return number == 0;
  return std::abs(number - other) < step_at(other);
}

long double BinaryGrid::step_at(long double number) const {
  return std::ldexp(1.0L, number == 0 ? least_ : last_of(bits_of(number), *this));
}

long double step_of(const StepGrid& grid, long double number) {
  if (grid.integer) return grid.unit;
  const int exponent = number == 0 ? grid.least_exponent : std::ilogb(number);
  return std::ldexp(1.0L, std::max(exponent, grid.least_exponent) + 1 - grid.precision);
}

std::optional<EvenGrid> EvenGrid::of(std::vector<long double> numbers) {
  if (numbers.empty()) return std::nullopt;
  std::ranges::sort(numbers);
  EvenGrid grid;
  grid.first_ =
      *std::ranges::min_element(numbers, {}, [](long double number) { return std::abs(number); });
  grid.blur_ = std::ldexp(std::max(std::abs(numbers.front()), std::abs(numbers.back())), -22);
  for (std::size_t i = 1; i < numbers.size(); ++i)
    grid.step_ = grid.common(numbers[i] - numbers[i - 1], grid.step_);
  if (grid.step_ <= 16 * grid.blur_) return std::nullopt;
  // By the widest distance, where the step counts most often.
  const long double widest = numbers.back() - numbers.front();
  grid.step_ = widest / std::nearbyint(widest / grid.step_);
  if (!std::ranges::all_of(numbers, [&](long double number) { return grid.has(number); }))
    return std::nullopt;
  return grid;
}

bool EvenGrid::has(long double number) const {
  const long double distance = number - first_;
  return std::abs(distance - std::nearbyint(distance / step_) * step_) <=
         std::ldexp(std::max(std::abs(number), std::abs(first_)), -22);
}

bool EvenGrid::less_than_a_step(long double other, long double number) const {
  return std::abs(number - other) < step_ + blur_;
}

long double EvenGrid::common(long double a, long double b) const {
  if (a < b) std::swap(a, b);
  while (b > 4 * blur_) {
    const long double ratio = std::nearbyint(a / b);
    const long double rest = std::abs(a - ratio * b);
    // The error of b is multiplied by `ratio`.
    if (rest <= 4 * blur_ * ratio) return a / ratio;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace btf::hints
