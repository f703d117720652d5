// Masks that say the opposite: two values, exchanged.
#include <cmath>
#include <set>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

// The values of a sample, if they are not more than two.
std::set<long double> two_values(const Inquiry& inquiry, long double Point::* side) {
  std::set<long double> values;
  for (const auto* points : {&inquiry.mismatches, &inquiry.anywhere})
    for (const Point& point : *points) {
      if (std::isnan(point.*side)) return {};
      values.insert(point.*side);
      if (values.size() > 2) return {};
    }
  return values;
}

}  // namespace

SearchResult find_inverted(const Inquiry& inquiry) {
  const std::set<long double> values = two_values(inquiry, &Point::golden);
  if (values.size() != 2 || values != two_values(inquiry, &Point::actual)) return std::nullopt;
  const long double low = *values.begin();
  const long double high = *values.rbegin();
  const ElementMap map = value_map(MovedSide::golden, [low, high](auto golden) {
    using Real = decltype(golden);
    if (golden == static_cast<Real>(low)) return static_cast<Real>(high);
    return golden == static_cast<Real>(high) ? static_cast<Real>(low) : golden;
  });
  if (!convincing(inquiry, map.side, mapped(inquiry, map, inquiry.mismatches),
                  mapped(inquiry, map, inquiry.anywhere), 1))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  return Finding{{Cause::inverted, "actual is " + number_text(high) + " where golden is " +
                                       number_text(low) + ", and the reverse: " +
                                       fitting_text(inquiry, all)},
                 all.exceptions};
}

}  // namespace btf::hints
