// Whole numbers beyond the range of a dtype that came round at its other end.
#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/cast_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

// Are there mismatches beyond the dtype's range, and is the other side within it?
bool may_wrap(const Inquiry& inquiry, MovedSide side, DType dtype) {
  const Limits limits = limits_of(dtype);
  return !inquiry.mismatches.empty() &&
         std::ranges::all_of(inquiry.mismatches, [&](const Point& point) {
           const long double from = side == MovedSide::golden ? point.golden : point.actual;
           const long double to = side == MovedSide::golden ? point.actual : point.golden;
           return (from <= limits.lowest - 0.5L || from >= limits.highest + 0.5L) &&
                  to >= limits.lowest && to <= limits.highest;
         });
}

SearchResult try_wrap(const Inquiry& inquiry, MovedSide side, DType dtype, Rounding rounding) {
  const bool of_golden = side == MovedSide::golden;
  const DType stored = of_golden ? inquiry.input.golden.dtype() : inquiry.input.actual.dtype();
  const ElementMap map =
      cast_map(side, stored, dtype, {.overflow = Overflow::wrap, .rounding = rounding});
  if (!fits_anywhere(inquiry, map) ||
      !convincing(inquiry, side, mapped(inquiry, map, inquiry.mismatches),
                  mapped(inquiry, map, inquiry.anywhere),
                  2.0 * static_cast<double>(dtypes().size())))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  const std::string words =
      of_golden ? "actual is golden wrapped to " : "golden is actual wrapped to ";
  return Finding{
      {Cause::wrapped, words + name_of(dtype) + ": " +
                           share_text(all.elements - all.exceptions, all.elements) + ", " +
                           std::to_string(all.confirmed) + " of them beyond its range"},
      all.exceptions};
}

}  // namespace

SearchResult find_wrapped(const Inquiry& inquiry) {
  for (const MovedSide side : {MovedSide::golden, MovedSide::actual})
    for (const DTypeInfo& row : dtypes()) {
      if (row.kind != NumberKind::signed_integer && row.kind != NumberKind::unsigned_integer)
        continue;
      if (!may_wrap(inquiry, side, row.dtype)) continue;
      for (const Rounding rounding : {Rounding::nearest, Rounding::zero, Rounding::down}) {
        BTF_ASSIGN(std::optional<Finding> finding, try_wrap(inquiry, side, row.dtype, rounding));
        if (finding) return finding;
      }
    }
  return std::nullopt;
}

}  // namespace btf::hints
