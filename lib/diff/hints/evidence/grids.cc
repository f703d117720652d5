#include "diff/hints/evidence/grids.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "kernels/number/number.h"

namespace btf::hints {
namespace {

struct Bits {
  int exponent = 0;  // of the leading bit
  int last = 0;      // of the last bit
};

Bits bits_of(long double value) {
  int exponent = 0;
  const long double fraction = std::frexp(std::abs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  return {exponent - 1, exponent - 64 + std::countr_zero(mantissa)};
}

// The exponent of the last bit that the grid gives a number of this size.
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
  // The widest distance has the most steps, so it gives the most exact step.
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

namespace {

using Side = long double Point::*;

template <typename Grid>
bool rounds_all(const std::vector<long double>& numbers, std::span<const Point> mismatches,
                Side coarse, Side fine) {
  const std::optional<Grid> grid = Grid::of(numbers);
  if (!grid) return false;
  std::size_t between = 0;  // numbers that rounding had to change
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

namespace {

constexpr std::size_t kMinOnGrid = 16;  // fewer numbers are on some grid anyway
constexpr int kMinPrecision = 3;
constexpr long double kCoarser = 1.5L;  // than the steps of the dtypes

using Numbers = std::vector<long double>;

Numbers numbers_of(const Sample& sample, long double Point::* side) {
  Numbers numbers;
  for (const auto* points : {&sample.mismatches, &sample.anywhere})
    for (const Point& point : *points)
      if (std::isfinite(point.*side) && point.*side != 0) numbers.push_back(point.*side);
  return numbers;
}

bool varies(const Numbers& numbers) {
  DistinctNumbers<kMinOnGrid> distinct;
  for (const long double number : numbers) distinct.add(number);
  return distinct.enough();
}

template <typename Grid>
bool changes(const Grid& grid, const Numbers& other) {
  const auto between =
      std::ranges::count_if(other, [&](long double number) { return !grid.has(number); });
  return 2 * static_cast<std::size_t>(between) >= other.size();
}

template <typename Step>
long double usual_step(const Numbers& numbers, Step&& step) {
  long double sum = 0;
  for (const long double number : numbers) sum += step(number);
  return sum / static_cast<long double>(numbers.size());
}

// The first dtype with exactly this many significant bits that can represent all numbers.
std::optional<DType> dtype_with(const BinaryGrid& grid, const Numbers& numbers) {
  const long double most = std::abs(
      *std::ranges::max_element(numbers, {}, [](long double number) { return std::abs(number); }));
  for (const DTypeInfo& row : dtypes()) {
    if (!row.floating() || row.fp.mantissa_bits + 1 != grid.precision()) continue;
    if (grid.least() >= 1 - row.fp.bias - row.fp.mantissa_bits &&
        most <= limits_of(row.dtype).highest)
      return row.dtype;
  }
  return std::nullopt;
}

struct GridCandidate {
  InferredGrid shown;
  long double usual = 0;  // average step
  bool even = false;
};

std::optional<GridCandidate> floats_in(const Numbers& numbers, const Numbers& other) {
  const auto grid = BinaryGrid::of(numbers);
  if (!grid || grid->precision() < kMinPrecision || !changes(*grid, other)) return std::nullopt;
  GridCandidate seen;
  seen.usual = usual_step(numbers, [&](long double number) { return grid->step_at(number); });
  seen.shown.dtype = dtype_with(*grid, numbers);
  constexpr int kMinExponent = -126;  // float32's
  seen.shown.grid = seen.shown.dtype ? step_grid(*seen.shown.dtype, *seen.shown.dtype)
                                     : StepGrid::floats(grid->precision(), kMinExponent);
  seen.shown.name = seen.shown.dtype ? name_of(*seen.shown.dtype)
                                     : std::to_string(grid->precision()) + " significant bits";
  return seen;
}

std::optional<GridCandidate> multiples_in(const Numbers& numbers, const Numbers& other,
                                          const StepGrid& grid_of_dtypes) {
  const auto grid = EvenGrid::of(numbers);
  if (!grid || !changes(*grid, other)) return std::nullopt;
  return GridCandidate{
      .shown = {.name = "multiples of " + short_number_text(grid->step()), .grid = grid_of_dtypes},
      .usual = grid->step(),
      .even = true};
}

std::optional<GridCandidate> grid_in(const Numbers& numbers, const Numbers& other,
                                     const StepGrid& grid_of_dtypes) {
  if (!varies(numbers)) return std::nullopt;
  std::optional<GridCandidate> seen = multiples_in(numbers, other, grid_of_dtypes);
  if (auto floats = floats_in(numbers, other); floats && (!seen || floats->usual > seen->usual))
    seen = std::move(floats);
  const long double known =
      usual_step(numbers, [&](long double number) { return step_of(grid_of_dtypes, number); });
  return seen && seen->usual > kCoarser * known ? seen : std::nullopt;
}

}  // namespace

std::optional<InferredGrid> inferred_grid(const HintInput& input, const Sample& sample) {
  const Numbers actual = numbers_of(sample, &Point::actual);
  const Numbers golden = numbers_of(sample, &Point::golden);
  std::optional<GridCandidate> of_actual = grid_in(actual, golden, input.judge.grid);
  std::optional<GridCandidate> of_golden = grid_in(golden, actual, input.judge.grid);
  if (of_actual && of_actual->even)
    of_actual->shown.half_step_of_actual = static_cast<double>(of_actual->usual / 2);
  if (of_golden && of_golden->even)
    of_golden->shown.half_step_of_golden = static_cast<double>(of_golden->usual / 2);
  if (!of_actual || !of_golden) {
    if (!of_actual) of_actual = std::move(of_golden);
    return of_actual ? std::optional(std::move(of_actual->shown)) : std::nullopt;
  }
  if (of_actual->even && of_golden->even) {
    of_actual->shown.half_step_of_golden = of_golden->shown.half_step_of_golden;
    of_actual->shown.name += " and of " + short_number_text(of_golden->usual);
    return std::move(of_actual->shown);
  }
  return std::move(of_actual->usual >= of_golden->usual ? of_actual->shown : of_golden->shown);
}

Limits limits_of(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.kind == NumberKind::boolean) return {.lowest = 0, .highest = 1, .rounds_over = 1};
  if (row.kind == NumberKind::unsigned_integer) {
    const long double end = std::ldexp(1.0L, row.bits);
    return {.lowest = 0, .highest = end - 1, .rounds_over = end};
  }
  if (row.kind == NumberKind::signed_integer) {
    const long double end = std::ldexp(1.0L, row.bits - 1);
    return {.lowest = -end, .highest = end - 1, .rounds_over = end};
  }
  const std::uint64_t top = number::max_finite(row.fp);
  const long double highest = value_of(dtype, top);
  const long double below = value_of(dtype, top - 1);
  return {.lowest = row.fp.power_of_two ? value_of(dtype, 0) : -highest,
          .highest = highest,
          .rounds_over = highest + (highest - below) / 2,
          .has_inf = row.fp.specials == FloatSpecials::ieee,
          .has_nan = row.fp.specials != FloatSpecials::none};
}

}  // namespace btf::hints
