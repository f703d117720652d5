// Maps of elements by a rule that depends on their index: another factor in every channel, a sum
// over every row.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "diff/hints/models/element_map.h"

namespace btf::hints {

// Elements that neither of two COO tensors stores must stay 0.
struct PlacedMap {
  MovedSide side{};
  std::function<long double(std::uint64_t number, long double value)> apply;
  std::optional<Slack> slack{};
  // If set, slack->absolute of each element.
  std::function<double(std::uint64_t number)> absolute{};
};

// Over all pairs.
Result<MapTally> tally(const Inquiry& inquiry, const PlacedMap& map);

// The map's values at sampled points.
Moved mapped(const PlacedMap& map, std::span<const Point> points);

// Where that fits, what is there.
Moved fitted_values(const Inquiry& inquiry, const PlacedMap& map, std::span<const Point> points);

// Visits the pairs of finite numbers in row-major order, those left out that neither of two COO
// tensors stores.
using FinitePair =
    std::function<void(std::uint64_t number, long double actual, long double golden)>;
Status visit_finite(const Inquiry& inquiry, const FinitePair& visit);

// One dim among the others: number = (outer * size + index) * inner + rest.
struct Along {
  std::uint64_t size = 1;
  std::uint64_t inner = 1;

  std::uint64_t index(std::uint64_t number) const { return number / inner % size; }
  // The row along the dim that an element is in.
  std::uint64_t row(std::uint64_t number) const {
    return number / (inner * size) * inner + number % inner;
  }
  std::uint64_t number(std::uint64_t row, std::uint64_t index) const {
    return (row / inner * size + index) * inner + row % inner;
  }
};

Along along(const Dims& dims, std::size_t dim);

}  // namespace btf::hints
