#include "diff/hints/evidence/rounding_grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

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

// Numbers of so many significant bits, and none after `least`.
class BinaryGrid {
 public:
  // The coarsest that has all of these; nothing if they are all 0.
  static std::optional<BinaryGrid> of(const std::vector<long double>& numbers) {
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

  bool has(long double number) const {
    if (number == 0) return true;
    const Bits bits = bits_of(number);
    return bits.last >= last_of(bits);
  }

  // Of `number`, which is on the grid, and what lies between it and the next.
  bool less_than_a_step(long double other, long double number) const {
    if (other == 0) return number == 0;
    return std::abs(number - other) < std::ldexp(1.0L, last_of(bits_of(other)));
  }

 private:
  int last_of(const Bits& bits) const { return std::max(bits.exponent - precision_ + 1, least_); }

  int precision_ = 0;
  int least_ = std::numeric_limits<int>::max();
};

// Numbers some multiple of a step apart, give or take what float32 makes of them.
class EvenGrid {
 public:
  static std::optional<EvenGrid> of(std::vector<long double> numbers) {
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

  long double step() const { return step_; }

  bool has(long double number) const {
    const long double distance = number - first_;
    return std::abs(distance - std::nearbyint(distance / step_) * step_) <=
           std::ldexp(std::max(std::abs(number), std::abs(first_)), -22);
  }

  bool less_than_a_step(long double other, long double number) const {
    return std::abs(number - other) < step_ + blur_;
  }

 private:
  // Of both the greatest common divisor, by Euclid.
  long double common(long double a, long double b) const {
    if (a < b) std::swap(a, b);
    while (b > 4 * blur_) {
      const long double rest = std::abs(a - std::nearbyint(a / b) * b);
      a = b;
      b = rest;
    }
    return a;
  }

  long double first_ = 0;
  long double step_ = 0;
  long double blur_ = 0;
};

using Side = long double Point::*;

template <typename Grid>
bool rounds_all(const std::vector<long double>& numbers, std::span<const Point> mismatches,
                Side coarse, Side fine) {
  const std::optional<Grid> grid = Grid::of(numbers);
  if (!grid) return false;
  std::size_t between = 0;  // what rounding had to change
  for (const Point& point : mismatches) {
    if (!grid->less_than_a_step(point.*fine, point.*coarse)) return false;
    if (!grid->has(point.*fine)) ++between;
  }
  return 2 * between >= mismatches.size();
}

std::vector<long double> numbers_of(std::span<const Point> mismatches,
                                    std::span<const Point> anywhere, Side side) {
  std::vector<long double> numbers;
  for (const auto points : {mismatches, anywhere})
    for (const Point& point : points)
      if (std::isfinite(point.*side)) numbers.push_back(point.*side);
  return numbers;
}

bool is_rounded(std::span<const Point> mismatches, std::span<const Point> anywhere, Side coarse,
                Side fine) {
  const std::vector<long double> numbers = numbers_of(mismatches, anywhere, coarse);
  return rounds_all<BinaryGrid>(numbers, mismatches, coarse, fine) ||
         rounds_all<EvenGrid>(numbers, mismatches, coarse, fine);
}

}  // namespace

bool looks_rounded(std::span<const Point> mismatches, std::span<const Point> anywhere) {
  const bool finite = std::ranges::all_of(mismatches, [](const Point& point) {
    return std::isfinite(point.actual) && std::isfinite(point.golden);
  });
  return finite && (is_rounded(mismatches, anywhere, &Point::actual, &Point::golden) ||
                    is_rounded(mismatches, anywhere, &Point::golden, &Point::actual));
}

std::optional<long double> even_step(std::span<const Point> mismatches,
                                     std::span<const Point> anywhere) {
  std::optional<long double> step;
  for (const Side side : {&Point::actual, &Point::golden}) {
    const auto grid = EvenGrid::of(numbers_of(mismatches, anywhere, side));
    if (grid && (!step || grid->step() > *step)) step = grid->step();
  }
  return step;
}

}  // namespace btf::hints
