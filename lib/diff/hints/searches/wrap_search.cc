// Whole numbers beyond the range of a dtype that came round at its other end.
#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/cast_map.h"
#include "diff/hints/models/placed_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

bool is_integer(const DTypeInfo& row) {
  return row.kind == NumberKind::signed_integer || row.kind == NumberKind::unsigned_integer;
}

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
                           fitting_text(inquiry, all) + ", " +
                           std::to_string(all.confirmed) + " of them beyond its range"},
      all.exceptions};
}

// Where one side is cut off at the limits of a dtype, the other can have come round: at the upper
// limit it is then in the lower half of the range, unless it was beyond by more than that.
struct CutOff {
  std::uint64_t round = 0;    // came round into the other half
  std::uint64_t further = 0;  // is in the same half, and not at the limit
  std::uint64_t agreed = 0;   // is at the limit too
  std::uint64_t others = 0;   // mismatches elsewhere
  std::uint64_t elements = 0;

  void add(long double cut, long double other, const Limits& limits, bool agree) {
    ++elements;
    const bool high = cut == limits.highest;
    if (!high && cut != limits.lowest) {
      others += agree ? 0 : 1;
    } else if (agree) {
      // Zeros are of no interest where they are the lower limit.
      agreed += high || limits.lowest != 0 ? 1 : 0;
    } else {
      const bool low_half = 2 * other < limits.highest + limits.lowest;
      ++(other < limits.lowest || other > limits.highest ? others
         : low_half == high                              ? round
                                                         : further);
    }
  }
  bool holds() const {
    constexpr std::uint64_t kLeast = 8;
    constexpr double kLeastBits = 50;
    if (round < kLeast || 10 * further > round || 4 * agreed > round || 100 * others > round)
      return false;
    // To be there, and in that half.
    const double rarity =
        1 + std::log2(static_cast<double>(elements) / static_cast<double>(round + further));
    return 4 * (round + further) <= 3 * elements &&
           static_cast<double>(round) * rarity >= kLeastBits;
  }
};

SearchResult try_cut_off(const Inquiry& inquiry, MovedSide cut_side, DType dtype) {
  constexpr std::size_t kLeastCameRound = 4;  // different numbers
  const Limits limits = limits_of(dtype);
  const bool of_golden = cut_side == MovedSide::golden;
  CutOff sampled;
  DistinctNumbers<kLeastCameRound> distinct;
  for (const Point& point : inquiry.mismatches) {
    const long double other = of_golden ? point.actual : point.golden;
    if (std::isnan(other)) return std::nullopt;
    sampled.add(of_golden ? point.golden : point.actual, other, limits, false);
    distinct.add(other);
  }
  if (50 * sampled.others > sampled.elements || 8 * sampled.further > sampled.elements ||
      !distinct.enough())
    return std::nullopt;
  CutOff all;
  BTF_TRY(visit_finite(inquiry, [&](std::uint64_t, long double actual, long double golden) {
    all.add(of_golden ? golden : actual, of_golden ? actual : golden, limits,
            sampled_agree(actual, golden, inquiry.agreement));
  }));
  if (!all.holds()) return std::nullopt;
  return Finding{
      {Cause::wrapped, mismatches_text(all.round + all.further) + " have " +
                           (of_golden ? "golden" : "actual") + " at " + name_of(dtype) +
                           "'s limits, " + number_text(limits.lowest) + " or " +
                           number_text(limits.highest) + ", where " +
                           (of_golden ? "actual" : "golden") + " came round at the other end"},
      all.others};
}

// Both sides have no more than the dtype holds.
SearchResult find_cut_off(const Inquiry& inquiry) {
  for (const MovedSide side : {MovedSide::golden, MovedSide::actual})
    for (const DType dtype : {inquiry.input.golden.dtype(), inquiry.input.actual.dtype()}) {
      constexpr int kLeastBits = 8;
      if (!is_integer(info(dtype)) || info(dtype).bits < kLeastBits) continue;
      BTF_ASSIGN(std::optional<Finding> finding, try_cut_off(inquiry, side, dtype));
      if (finding) return finding;
      if (inquiry.input.golden.dtype() == inquiry.input.actual.dtype()) break;
    }
  return std::nullopt;
}

}  // namespace

SearchResult find_wrapped(const Inquiry& inquiry) {
  for (const MovedSide side : {MovedSide::golden, MovedSide::actual})
    for (const DTypeInfo& row : dtypes()) {
      if (!is_integer(row) || !may_wrap(inquiry, side, row.dtype)) continue;
      for (const Rounding rounding : {Rounding::nearest, Rounding::zero, Rounding::down}) {
        BTF_ASSIGN(std::optional<Finding> finding, try_wrap(inquiry, side, row.dtype, rounding));
        if (finding) return finding;
      }
    }
  return find_cut_off(inquiry);
}

}  // namespace btf::hints
