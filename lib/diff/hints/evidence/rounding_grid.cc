#include "diff/hints/evidence/rounding_grid.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "diff/hints/evidence/number_grids.h"

namespace btf::hints {
namespace {

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
