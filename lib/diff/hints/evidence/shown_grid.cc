#include "diff/hints/evidence/shown_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/number_grids.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"

namespace btf::hints {
namespace {

constexpr std::size_t kLeastShown = 16;  // fewer are on a grid anyhow
constexpr int kLeastPrecision = 3;
constexpr long double kCoarser = 1.5L;  // than what the dtypes make of numbers

using Numbers = std::vector<long double>;

Numbers numbers_of(const Sample& sample, long double Point::* side) {
  Numbers numbers;
  for (const auto* points : {&sample.mismatches, &sample.anywhere})
    for (const Point& point : *points)
      if (std::isfinite(point.*side) && point.*side != 0) numbers.push_back(point.*side);
  return numbers;
}

bool varies(const Numbers& numbers) {
  DistinctNumbers<kLeastShown> distinct;
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

// The first dtype with exactly this many bits that has all of these.
std::optional<DType> dtype_with(const BinaryGrid& grid, const Numbers& numbers) {
  const long double most = std::abs(*std::ranges::max_element(
      numbers, {}, [](long double number) { return std::abs(number); }));
  for (const DTypeInfo& row : dtypes()) {
    if (!row.floating() || row.fp.mantissa_bits + 1 != grid.precision()) continue;
    if (grid.least() >= 1 - row.fp.bias - row.fp.mantissa_bits &&
        most <= limits_of(row.dtype).highest)
      return row.dtype;
  }
  return std::nullopt;
}

struct SeenGrid {
  ShownGrid shown;
  long double usual = 0;  // step
  bool even = false;
};

std::optional<SeenGrid> floats_in(const Numbers& numbers, const Numbers& other) {
  const auto grid = BinaryGrid::of(numbers);
  if (!grid || grid->precision() < kLeastPrecision || !changes(*grid, other)) return std::nullopt;
  SeenGrid seen;
  seen.usual = usual_step(numbers, [&](long double number) { return grid->step_at(number); });
  seen.shown.dtype = dtype_with(*grid, numbers);
  constexpr int kLeastExponent = -126;  // float32's
  seen.shown.grid = seen.shown.dtype ? step_grid(*seen.shown.dtype, *seen.shown.dtype)
                                     : StepGrid::floats(grid->precision(), kLeastExponent);
  seen.shown.name = seen.shown.dtype
                        ? name_of(*seen.shown.dtype)
                        : std::to_string(grid->precision()) + " significant bits";
  return seen;
}

std::optional<SeenGrid> multiples_in(const Numbers& numbers, const Numbers& other,
                                     const StepGrid& grid_of_dtypes) {
  const auto grid = EvenGrid::of(numbers);
  if (!grid || !changes(*grid, other)) return std::nullopt;
  return SeenGrid{.shown = {.name = "multiples of " + short_number_text(grid->step()),
                            .grid = grid_of_dtypes},
                  .usual = grid->step(),
                  .even = true};
}

std::optional<SeenGrid> seen_in(const Numbers& numbers, const Numbers& other,
                                const StepGrid& grid_of_dtypes) {
  if (!varies(numbers)) return std::nullopt;
  std::optional<SeenGrid> seen = multiples_in(numbers, other, grid_of_dtypes);
  if (auto floats = floats_in(numbers, other); floats && (!seen || floats->usual > seen->usual))
    seen = std::move(floats);
  const long double known =
      usual_step(numbers, [&](long double number) { return step_of(grid_of_dtypes, number); });
  return seen && seen->usual > kCoarser * known ? seen : std::nullopt;
}

}  // namespace

std::optional<ShownGrid> shown_grid(const HintInput& input, const Sample& sample) {
  const Numbers actual = numbers_of(sample, &Point::actual);
  const Numbers golden = numbers_of(sample, &Point::golden);
  std::optional<SeenGrid> of_actual = seen_in(actual, golden, input.judge.grid);
  std::optional<SeenGrid> of_golden = seen_in(golden, actual, input.judge.grid);
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

}  // namespace btf::hints
