#include "diff/hints/models/placed_map.h"

#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

template <typename Real>
Result<MapTally> tally_placed(const Inquiry& inquiry, const PlacedMap& map) {
  const ElementMap whole{.side = map.side, .narrow = {}, .wide = {}, .slack = map.slack};
  const PairRows pairs(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<MapTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    ElementMap fitted = whole;
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      if (map.absolute) fitted.slack->absolute = map.absolute(run.first + i);
      const Real value = map.side == MovedSide::actual ? run.actual[i] : run.golden[i];
      const auto result = static_cast<Real>(map.apply(run.first + i, value));
      add_pair(inquiry, fitted, result, run.actual[i], run.golden[i], run.alike ? run.count : 1,
               tallies[worker]);
    }
  }));
  MapTally all;
  for (const MapTally& one : tallies) all.add(one);
  return all;
}

template <typename Real>
Status visit_real(const Inquiry& inquiry, const FinitePair& visit) {
  // In one order, or sums would differ in their last digit.
  const PairRows pairs(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution,
                       PairOrder::row_major);
  return pairs.walk<Real>([&](unsigned, std::uint64_t, const PairRun<Real>& run) {
    if (run.alike && run.actual[0] == run.golden[0]) return;
    for (std::uint64_t i = 0; i < run.values(); ++i)
      if (std::isfinite(run.actual[i]) && std::isfinite(run.golden[i]))
        visit(run.first + i, run.actual[i], run.golden[i]);
  });
}

bool use_double(const Inquiry& inquiry) {
  return PairRows(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution).use_double();
}

}  // namespace

Result<MapTally> tally(const Inquiry& inquiry, const PlacedMap& map) {
  return use_double(inquiry) ? tally_placed<double>(inquiry, map)
                             : tally_placed<long double>(inquiry, map);
}

Moved mapped(const PlacedMap& map, std::span<const Point> points) {
  Moved moved;
  for (const Point& point : points)
    moved.emplace_back(
        map.apply(point.number, map.side == MovedSide::actual ? point.actual : point.golden));
  return moved;
}

Moved fitted_values(const Inquiry& inquiry, const PlacedMap& map, std::span<const Point> points) {
  const ElementMap fitted{.side = map.side, .narrow = {}, .wide = {}, .slack = map.slack};
  Moved values = mapped(map, points);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point& point = points[i];
    if (fit_of(*values[i], point.actual, point.golden, fitted, inquiry.agreement) != Fit::none)
      values[i] = map.side == MovedSide::actual ? point.golden : point.actual;
  }
  return values;
}

Status visit_finite(const Inquiry& inquiry, const FinitePair& visit) {
  return use_double(inquiry) ? visit_real<double>(inquiry, visit)
                             : visit_real<long double>(inquiry, visit);
}

Along along(const Dims& dims, std::size_t dim) {
  Along result{.size = dims[dim]};
  for (std::size_t d = dim + 1; d < dims.size(); ++d) result.inner *= dims[d];
  return result;
}

}  // namespace btf::hints
