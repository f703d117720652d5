// Differences in steps of codes; byte order, nibble order of 8-bit codes, and bits read as another
// dtype.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"
#include "elements/elements.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::size_t kMinVaried = 4;  // distinct numbers on either side
constexpr std::uint64_t kMinStepped = 16;
constexpr std::uint64_t kMinSaturated = 2;

// How many elements a hypothesis explains, and the first that it does not.
struct Coverage {
  std::uint64_t elements = 0;
  std::uint64_t first_other = UINT64_MAX;

  void add(bool holds, std::uint64_t number, std::uint64_t weight) {
    if (holds)
      elements += weight;
    else
      first_other = std::min(first_other, number);
  }
  void add(const Coverage& more) {
    elements += more.elements;
    first_other = std::min(first_other, more.first_other);
  }
};

struct GridTally {
  std::uint64_t elements = 0;
  Coverage stepped;    // actual is golden plus a fixed number of steps, up to rounding and the ends
                       // of codes
  Coverage rounded;    // only rounding
  Coverage saturated;  // rounding, or a code at the end of its range
  std::uint64_t beyond = 0;  // more than a step apart
  std::uint64_t cut_actual = 0;
  std::uint64_t cut_golden = 0;

  void add(const GridTally& more) {
    elements += more.elements;
    stepped.add(more.stepped);
    rounded.add(more.rounded);
    saturated.add(more.saturated);
    beyond += more.beyond;
    cut_actual += more.cut_actual;
    cut_golden += more.cut_golden;
  }
};

// The number of steps by which most sampled mismatches differ.
long double common_steps(const SearchContext& context, double unit) {
  std::vector<long double> steps;
  for (const Point& point : context.mismatches)
    if (std::isfinite(point.actual) && std::isfinite(point.golden))
      steps.push_back(std::nearbyint((point.actual - point.golden) / unit));
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return *middle;
}

template <typename Real>
Result<GridTally> tally_steps(const HintInput& input, const Judge& close, Real unit, Real offset) {
  const Real half = unit / 2;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<GridTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    GridTally& tally = tallies[worker];
    const std::uint64_t weight = run.alike ? run.count : 1;
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      const Real a = run.actual[i];
      const Real g = run.golden[i];
      const std::uint64_t number = run.number(i);
      const bool rounded = accepts(a, g, close, number);
      const bool cut_actual = !rounded && close.actual.saturated(a, g, number);
      const bool cut_golden = !rounded && close.golden.saturated(g, a, number);
      // Numbers beyond the last code are stored as it, whatever the zero point is.
      const bool cut = close.actual.saturated(a, g + offset, number) ||
                       close.golden.saturated(g, a - offset, number);
      const Real most = half + static_cast<Real>(kScaleArithmetic) * std::abs(g);
      tally.elements += weight;
      tally.stepped.add(cut || std::abs(a - g - offset) <= most, number, weight);
      tally.rounded.add(rounded, number, weight);
      tally.saturated.add(rounded || cut_actual || cut_golden, number, weight);
      // A step that was inferred is only known to a few percent.
      if (std::abs(a - g) > static_cast<Real>(1.05) * unit) tally.beyond += weight;
      if (cut_actual) tally.cut_actual += weight;
      if (cut_golden) tally.cut_golden += weight;
    }
  }));
  GridTally all;
  for (const GridTally& one : tallies) all.add(one);
  return all;
}

bool varied(const std::vector<Point>& points) {
  DistinctNumbers<kMinVaried> actual;
  DistinctNumbers<kMinVaried> golden;
  for (const Point& point : points) {
    if (!std::isfinite(point.actual) || !std::isfinite(point.golden)) continue;
    actual.add(point.actual);
    golden.add(point.golden);
  }
  return actual.enough() && golden.enough();
}

// "; 2 elements are not explained, the first at [0, 3]", or empty.
std::string others_text(const HintInput& input, const Coverage& holds, std::uint64_t elements) {
  const std::uint64_t others = elements - holds.elements;
  if (others == 0) return "";
  return "; " + std::to_string(others) + (others == 1 ? " element is" : " elements are") +
         " not explained, the first at " +
         dims_text(index_of(input.golden.dims(), holds.first_other));
}

Finding found(Cause cause, const std::string& text, const HintInput& input, const Coverage& holds,
              std::uint64_t elements) {
  return {{cause, text + others_text(input, holds, elements)}, elements - holds.elements};
}

std::string stepped_text(long double steps, double unit, bool codes) {
  const std::string size = number_text(std::abs(steps) * unit);
  const std::string many = number_text(std::abs(steps));
  return "actual = golden " + std::string(steps < 0 ? "- " : "+ ") + size + ", " + many +
         (many == "1" ? " step" : " steps") + " of " + number_text(unit) + ", but for rounding" +
         (codes ? ": a zero point is " + many + " off" : "");
}

std::string saturated_text(const Grid& grid, std::uint64_t count, bool of_actual) {
  return mismatches_text(count) + " have " + (of_actual ? "actual" : "golden") + " at the end of " +
         name_of(grid.dtype) + "'s codes, where " + (of_actual ? "golden" : "actual") +
         " is beyond";
}

// The unit of codes, of integers compared with floats, and of floats that replace codes.
std::optional<double> unit_of(const SearchContext& context) {
  const Judge& judge = context.input.judge;
  const auto numbers = [](const Grid& grid) { return grid.codes || !grid.integers(); };
  if (judge.grid.integer)
    return numbers(judge.actual) || numbers(judge.golden) ? std::optional(judge.grid.unit)
                                                          : std::nullopt;
  const auto step = even_step(context.mismatches, context.anywhere);
  return step ? std::optional(static_cast<double>(*step)) : std::nullopt;
}

}  // namespace

SearchResult find_code_steps(const SearchContext& context, const Judge& close) {
  const HintInput& input = context.input;
  const bool codes = close.actual.codes || close.golden.codes;
  const std::optional<double> found_unit = unit_of(context);
  if (!found_unit || !varied(context.anywhere)) return std::nullopt;
  const double unit = *found_unit;
  const long double steps = common_steps(context, unit);
  if (!codes && steps == 0) return std::nullopt;
  const bool narrow = fits_double(input.actual.dtype()) && fits_double(input.golden.dtype());
  BTF_ASSIGN(const GridTally all,
             narrow ? tally_steps<double>(input, close, unit, static_cast<double>(steps * unit))
                    : tally_steps<long double>(input, close, unit, steps * unit));
  const auto nearly_all = [&](const Coverage& holds) {
    return (all.elements - holds.elements) * 100 <= input.mismatched;
  };
  // Another rounding mode leaves less than a step, and half of the elements are rounded the same in
  // both modes.
  const bool another_mode =
      2 * all.rounded.elements > all.elements || (!codes && 8 * all.beyond < all.elements);
  if (steps != 0 && nearly_all(all.stepped) && all.stepped.elements >= kMinStepped && !another_mode)
    return found(
        Cause::offset,
        stepped_text(steps, unit, codes) + ": " + share_text(all.stepped.elements, all.elements),
        input, all.stepped, all.elements);
  if (!codes || !nearly_all(all.saturated)) return std::nullopt;
  if (all.cut_actual + all.cut_golden >= kMinSaturated) {
    std::string text;
    if (all.cut_actual > 0) text = saturated_text(close.actual, all.cut_actual, true);
    if (all.cut_golden > 0)
      text += (text.empty() ? "" : "; ") + saturated_text(close.golden, all.cut_golden, false);
    return found(Cause::saturation, text + "; the others agree to half a step", input,
                 all.saturated, all.elements);
  }
  if (!nearly_all(all.rounded)) return std::nullopt;
  return found(Cause::rounding,
               "both are the same to half a step of the codes: " +
                   share_text(all.rounded.elements, all.elements),
               input, all.rounded, all.elements);
}

namespace {

// Byte order, nibble order, misread bits.

// Codes of bool carry too little information: every code but 0 is true.
bool has_bits(const DTypeInfo& row) { return row.kind != NumberKind::boolean; }

// Orders readings from the simplest: bits of the side's own dtype, read as the other side's;
// actual's before golden's.
std::vector<CodeReading> plainest_first(const HintInput& input, std::vector<CodeReading> readings) {
  std::ranges::stable_sort(readings, {}, [&](const CodeReading& reading) {
    const bool of_actual = reading.side == TransformedSide::actual;
    const DType other = of_actual ? input.golden.dtype() : input.actual.dtype();
    return (reading.stored == reading.taken_as ? 0 : 4) + (reading.is == other ? 0 : 2) +
           (of_actual ? 0 : 1);
  });
  return readings;
}

void add_for_sides(const HintInput& input, DType taken_as, DType is, const BitChange* change,
                   std::vector<CodeReading>& readings) {
  readings.push_back({TransformedSide::actual, input.actual.dtype(), taken_as, is, change});
  readings.push_back({TransformedSide::golden, input.golden.dtype(), taken_as, is, change});
}

SearchResult first_that_explains(const SearchContext& context,
                                 const std::vector<CodeReading>& readings) {
  const auto count = static_cast<double>(readings.size());
  for (const CodeReading& reading : plainest_first(context.input, readings)) {
    BTF_ASSIGN(std::optional<Finding> finding, try_reading(context, reading, count));
    if (finding) return finding;
  }
  return std::nullopt;
}

SearchResult find_changed(const SearchContext& context, Cause cause) {
  std::vector<CodeReading> readings;
  for (const BitChange& change : bit_changes())
    for (const DTypeInfo& row : dtypes())
      if (change.cause == cause && row.bits >= change.least_bits && row.bits <= change.most_bits &&
          has_bits(row))
        add_for_sides(context.input, row.dtype, row.dtype, &change, readings);
  return first_that_explains(context, readings);
}

// Small floats whose bits may be mixed up although the other side was never rounded to them.
bool is_small_float(const DTypeInfo& row) {
  return row.floating() && !row.fp.power_of_two && (row.bits == 8 || row.bits == 16);
}

// The same numbers except at the ends of the range.
bool reads_alike(const DTypeInfo& a, const DTypeInfo& b) {
  return a.fp.mantissa_bits == b.fp.mantissa_bits && a.fp.bias == b.fp.bias;
}

// Floats whose exponents differ in width.
bool differ_throughout(const CodeReading& reading) {
  const DTypeInfo& one = info(reading.taken_as);
  const DTypeInfo& other = info(reading.is);
  return one.floating() && other.floating() && one.fp.mantissa_bits != other.fp.mantissa_bits;
}

bool is_of_a_side(const HintInput& input, const CodeReading& reading) {
  return std::ranges::any_of(std::array{input.actual.dtype(), input.golden.dtype()},
                             [&](DType t) { return t == reading.taken_as || t == reading.is; });
}

bool are_of_both_sides(const HintInput& input, const CodeReading& reading) {
  const std::pair sides(input.actual.dtype(), input.golden.dtype());
  return sides == std::pair(reading.taken_as, reading.is) ||
         sides == std::pair(reading.is, reading.taken_as);
}

// Half a step of multiples would explain any dtype.
bool among_multiples(const Agreement& agreement) {
  return agreement.half_step_of_actual + agreement.half_step_of_golden > 0;
}

}  // namespace

std::vector<CodeReading> other_readings(const HintInput& input) {
  std::vector<CodeReading> readings;
  for (const DTypeInfo& row : dtypes())
    for (const BitChange& change : bit_changes())
      if (row.bits >= change.least_bits && row.bits <= change.most_bits && has_bits(row))
        add_for_sides(input, row.dtype, row.dtype, &change, readings);
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes())
      if (taken_as.bits == is.bits && taken_as.dtype != is.dtype && has_bits(is) &&
          has_bits(taken_as))
        add_for_sides(input, taken_as.dtype, is.dtype, nullptr, readings);
  // Among noise, bits of numbers that were cast on the way are no evidence. Nor are readings that
  // differ only by a factor or at the ends of the range: noise around the end of an unsigned type
  // looks like numbers of a signed one.
  std::erase_if(readings, [](const CodeReading& reading) {
    return reading.stored != reading.taken_as ||
           (reading.change == nullptr && !differ_throughout(reading));
  });
  return plainest_first(input, std::move(readings));
}

SearchResult find_byte_order(const SearchContext& context) {
  return find_changed(context, Cause::byte_order);
}

SearchResult find_swapped_codes(const SearchContext& context) {
  return find_changed(context, Cause::nibble_order);
}

SearchResult find_misread(const SearchContext& context) {
  if (among_multiples(context.agreement)) return std::nullopt;
  std::vector<CodeReading> readings;
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes())
      if (taken_as.bits == is.bits && taken_as.dtype != is.dtype && has_bits(is) &&
          has_bits(taken_as))
        add_for_sides(context.input, taken_as.dtype, is.dtype, nullptr, readings);
  // A factor is a simpler cause than a dtype that neither side has, and so is Inf or NaN where a
  // range ends.
  std::erase_if(readings, [&](const CodeReading& reading) {
    const bool alike = reads_alike(info(reading.taken_as), info(reading.is)) &&
                       info(reading.is).floating() && info(reading.taken_as).floating();
    return alike ? !are_of_both_sides(context.input, reading)
                 : only_scales(reading) && !is_of_a_side(context.input, reading);
  });
  return first_that_explains(context, readings);
}

SearchResult find_rounded_misread(const SearchContext& context) {
  if (among_multiples(context.agreement)) return std::nullopt;
  const DType golden = context.input.golden.dtype();
  if (!info(golden).floating() || !info(context.input.actual.dtype()).floating())
    return std::nullopt;
  std::vector<CodeReading> readings;
  for (const DTypeInfo& taken_as : dtypes())
    for (const DTypeInfo& is : dtypes()) {
      if (taken_as.bits != is.bits || !is_small_float(taken_as) || !is_small_float(is) ||
          reads_alike(taken_as, is))
        continue;
      const CodeReading reading{
          TransformedSide::golden, golden, taken_as.dtype, is.dtype, nullptr, true};
      // Dequantised numbers show their own grid.
      if (only_scales(reading) && info(context.input.actual.dtype()).bits <= 8 &&
          !is_of_a_side(context.input, reading))
        continue;
      // Golden is assumed to be right.
      if (!is_lossless(golden, taken_as.dtype)) readings.push_back(reading);
    }
  const auto count = static_cast<double>(readings.size());
  for (const CodeReading& reading : readings) {
    BTF_ASSIGN(std::optional<Finding> finding, try_reading(context, reading, count));
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace btf::hints
