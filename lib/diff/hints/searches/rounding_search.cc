// Another rounding mode: mismatches are one step, and all in one direction.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/same_steps.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/rows.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kLeastRounded = 32;
// Percent of the elements that could: another mode changes about half of all numbers.
constexpr std::uint64_t kLeastPercent = 40;
constexpr std::size_t kLeastDistinct = 4;  // golden numbers

enum Direction : std::size_t { to_zero, from_zero, up, down, kDirections };

constexpr std::array<std::string_view, kDirections> kWords{"toward zero", "away from zero", "up",
                                                           "down"};

struct StepTally {
  std::uint64_t elements = 0;    // where golden is neither 0 nor at a limit
  std::uint64_t mismatched = 0;  // once both are rounded to the coarser dtype
  std::array<std::uint64_t, kDirections> steps{};
};

// The only number next to golden on its side says nothing of a direction.
struct Range {
  long double lowest = 0;
  long double highest = 0;
};

Range range_of(const HintInput& input) {
  const Limits actual = limits_of(input.actual.dtype());
  const Limits golden = limits_of(input.golden.dtype());
  return {std::max(actual.lowest, golden.lowest), std::min(actual.highest, golden.highest)};
}

template <typename Real>
void add_pair(Real actual, Real golden, std::uint64_t weight, const Judge& judge,
              const Range& range, StepTally& tally) {
  const bool at_limit =
      golden <= static_cast<Real>(range.lowest) || golden >= static_cast<Real>(range.highest);
  if (golden != 0 && !at_limit) tally.elements += weight;
  if (accepts(actual, golden, judge)) return;
  if (!std::isfinite(actual) || !std::isfinite(golden)) {
    tally.mismatched += weight;
    return;
  }
  const std::uint64_t steps = steps_between(actual, golden, judge.grid);
  if (steps == 0) return;
  tally.mismatched += weight;
  if (steps != 1 || at_limit) return;
  tally.steps[actual > golden ? up : down] += weight;
  if (golden != 0) tally.steps[std::abs(actual) < std::abs(golden) ? to_zero : from_zero] += weight;
}

// The direction that nearly all mismatches took; steps away from 0 alone can be any noise that was
// rounded.
std::optional<Direction> direction_of(const StepTally& tally) {
  const std::uint64_t of_numbers = tally.steps[to_zero] + tally.steps[from_zero];
  if (tally.mismatched == 0 || 2 * of_numbers < tally.mismatched) return std::nullopt;
  for (const Direction direction : {to_zero, from_zero, up, down})
    if ((tally.mismatched - tally.steps[direction]) * 100 <= tally.mismatched) return direction;
  return std::nullopt;
}

template <typename Real>
Result<StepTally> tally_all(const HintInput& input, const Judge& judge) {
  const Range range = range_of(input);
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<StepTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    for (std::uint64_t i = 0; i < run.values(); ++i)
      add_pair(run.actual[i], run.golden[i], run.alike ? run.count : 1, judge, range,
               tallies[worker]);
  }));
  StepTally all;
  for (const StepTally& one : tallies) {
    all.elements += one.elements;
    all.mismatched += one.mismatched;
    for (std::size_t d = 0; d < kDirections; ++d) all.steps[d] += one.steps[d];
  }
  return all;
}

// Pairs that are the same number once both are rounded to the coarser dtype.
struct SameTally {
  std::uint64_t elements = 0;
  std::uint64_t same = 0;
  std::uint64_t refused = 0;  // by the user, and not the same
};

template <typename Real>
Result<SameTally> tally_same(const HintInput& input) {
  Judge judge = input.judge;
  judge.equal_nan = true;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<SameTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    SameTally& tally = tallies[worker];
    const std::uint64_t weight = run.alike ? run.count : 1;
    if (same_steps_everywhere(run, judge.grid)) {
      tally.elements += run.count;
      tally.same += run.count;
      return;
    }
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      const Real a = run.actual[i];
      const Real g = run.golden[i];
      const bool finite = std::isfinite(a) && std::isfinite(g);
      const bool same = finite ? steps_between(a, g, judge.grid) == 0
                               : a == g || (std::isnan(a) && std::isnan(g));
      tally.elements += weight;
      if (same) tally.same += weight;
      if (!same && !accepts(a, g, judge)) tally.refused += weight;
    }
  }));
  SameTally all;
  for (const SameTally& one : tallies) {
    all.elements += one.elements;
    all.same += one.same;
    all.refused += one.refused;
  }
  return all;
}

// The dtype whose steps they are.
std::string grid_name(const HintInput& input) {
  if (input.judge.grid.integer) return "1";
  const auto dtype = owner_of(input.judge.grid, input.actual.dtype(), input.golden.dtype());
  return dtype ? name_of(*dtype) : "the coarser dtype";
}

// "down (toward zero)" where all numbers have one sign.
std::string direction_text(Direction direction, const StepTally& tally) {
  std::string text(kWords[direction]);
  if (direction == to_zero || direction == from_zero)
    for (const Direction other : {up, down})
      if (tally.steps[other] == tally.steps[direction])
        return std::string(kWords[other]) + " (" + text + ")";
  return text;
}

}  // namespace

SearchResult find_rounding(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  Judge judge = input.judge;
  judge.equal_nan = true;
  StepTally seen;
  DistinctNumbers<kLeastDistinct> distinct;
  for (const Point& point : inquiry.mismatches) {
    const std::uint64_t before = seen.steps[up] + seen.steps[down];
    add_pair(point.actual, point.golden, 1, judge, range_of(input), seen);
    if (seen.steps[up] + seen.steps[down] > before) distinct.add(point.golden);
  }
  if (!direction_of(seen) || seen.mismatched < kLeastRounded || !distinct.enough())
    return std::nullopt;
  const bool narrow = fits_double(input.actual.dtype()) && fits_double(input.golden.dtype());
  BTF_ASSIGN(const StepTally all,
             narrow ? tally_all<double>(input, judge) : tally_all<long double>(input, judge));
  const std::optional<Direction> direction = direction_of(all);
  if (!direction || all.mismatched * 100 < kLeastPercent * all.elements) return std::nullopt;
  const std::uint64_t stepped = all.steps[*direction];
  return Finding{
      {Cause::rounding, std::to_string(stepped) + " of " + left_over_text(inquiry, all.mismatched) +
                            " are one step of " + grid_name(input) + " " +
                            direction_text(*direction, all) + ", " +
                            std::to_string(stepped * 100 / all.elements) + "% of the elements"},
      all.mismatched - stepped};
}

SearchResult find_coarser_dtype(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  const DType actual = input.actual.dtype();
  const DType golden = input.golden.dtype();
  const auto coarser = owner_of(input.judge.grid, actual, golden);
  if (!coarser || actual == golden) return std::nullopt;
  const bool narrow = fits_double(actual) && fits_double(golden);
  BTF_ASSIGN(const SameTally all,
             narrow ? tally_same<double>(input) : tally_same<long double>(input));
  if (all.refused > 0) return std::nullopt;
  const std::string what =
      *coarser == actual ? "actual is golden rounded to " : "golden is actual rounded to ";
  return Finding{
      {Cause::rounding, what + name_of(*coarser) + ": " + share_text(all.same, all.elements)}, 0};
}

}  // namespace btf::hints
