// Searches for how elements were computed: another rounding mode or precision, an activation or
// softmax that one side lacks.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

struct Activation {
  std::string_view name;
  double (*narrow)(double x) = nullptr;
  long double (*wide)(long double x) = nullptr;
  double (*amplified)(double value, double relative) = nullptr;
};

template <typename Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}
template <typename Real>
Real silu(Real x) {
  return x * sigmoid(x);
}
template <typename Real>
Real gelu(Real x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(Real{2})));
}
template <typename Real>
Real gelu_tanh(Real x) {
  constexpr double kTwoByPi = 0.63661977236758134308;
  return x / 2 *
         (1 + std::tanh(std::sqrt(static_cast<Real>(kTwoByPi)) *
                        (x + static_cast<Real>(0.044715) * x * x * x)));
}
template <typename Real>
Real softplus(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::abs(x)));
}
template <typename Real>
Real hard_sigmoid(Real x) {
  return std::clamp(x / 6 + Real{0.5}, Real{0}, Real{1});
}
template <typename Real>
Real hard_swish(Real x) {
  return x * hard_sigmoid(x);
}
template <typename Real>
Real leaky_relu(Real x) {
  return x < 0 ? x * static_cast<Real>(0.01) : x;
}
template <typename Real>
Real elu(Real x) {
  return x < 0 ? std::expm1(x) : x;
}
template <typename Real>
Real hyperbolic_tangent(Real x) {
  return std::tanh(x);
}
template <typename Real>
Real exponential(Real x) {
  return std::exp(x);
}

// Rounding before the function is amplified by the slope of the function.
template <double (*Function)(double)>
double amplified(double value, double relative) {
  const double by = std::abs(value) * relative / 4;  // a step
  return std::abs(Function(value + by) - Function(value - by));
}

template <double (*Function)(double)>
constexpr Activation row(std::string_view name, long double (*wide)(long double x)) {
  return {name, Function, wide, amplified<Function>};
}

// ReLU and clips are found by the search for saturation.
constexpr auto kActivations = std::to_array<Activation>({
    row<sigmoid<double>>("sigmoid", sigmoid<long double>),
    row<hyperbolic_tangent<double>>("tanh", hyperbolic_tangent<long double>),
    row<silu<double>>("SiLU", silu<long double>),
    row<gelu<double>>("GELU", gelu<long double>),
    row<gelu_tanh<double>>("GELU (tanh)", gelu_tanh<long double>),
    row<hard_sigmoid<double>>("hard sigmoid", hard_sigmoid<long double>),
    row<hard_swish<double>>("hard swish", hard_swish<long double>),
    row<leaky_relu<double>>("leaky ReLU", leaky_relu<long double>),
    row<elu<double>>("ELU", elu<long double>),
    row<softplus<double>>("softplus", softplus<long double>),
    row<exponential<double>>("exp", exponential<long double>),
});

// Whether the map changes most numbers by far more than rounding may. Near 0 many functions change
// hardly anything, so noise would pass.
bool changes_clearly(const SearchContext& context, const ElementMap& map) {
  constexpr std::size_t kMin = 8;
  const double clear = 4 * map.tolerance->relative;
  std::size_t changed = 0;
  for (const Point& point : context.mismatches) {
    const long double before = map.side == TransformedSide::actual ? point.actual : point.golden;
    long double after = 0;
    map.wide(&before, nullptr, 1, &after);
    if (std::abs(after - before) > clear * std::abs(before)) ++changed;
  }
  return changed >= kMin && 2 * changed >= context.mismatches.size();
}

SearchResult try_activation(const SearchContext& context, const Activation& activation,
                            TransformedSide side) {
  ElementMap map = value_map(side, [&activation](auto value) {
    if constexpr (std::is_same_v<decltype(value), double>)
      return activation.narrow(value);
    else
      return activation.wide(value);
  });
  map.tolerance = FitTolerance{.relative = rounding_tolerance(context.agreement),
                               .amplified = activation.amplified};
  if (!changes_clearly(context, map) || !fits_anywhere(context, map) ||
      !convincing(context, side, fitted_values(context, map, context.mismatches),
                  fitted_values(context, map, context.anywhere), 2.0 * kActivations.size()))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  const bool missing = side == TransformedSide::actual;
  return Finding{
      {Cause::activation, (missing ? "golden" : "actual") + std::string(" = ") +
                              std::string(activation.name) + " of " +
                              (missing ? "actual" : "golden") + ": " + fitting_text(context, all)},
      all.exceptions};
}

}  // namespace

SearchResult find_activation(const SearchContext& context) {
  // With few significant bits or integers, many functions fit equally well.
  constexpr int kMinPrecision = 8;
  const HintInput& input = context.input;
  if (!info(input.actual.dtype()).floating() || !info(input.golden.dtype()).floating() ||
      context.agreement.grid.precision < kMinPrecision)
    return std::nullopt;
  // Near 0 many functions change a number as little as cutting off its last bits does.
  if (context.rounded) return std::nullopt;
  for (const TransformedSide side : {TransformedSide::actual, TransformedSide::golden})
    for (const Activation& activation : kActivations) {
      BTF_ASSIGN(std::optional<Finding> finding, try_activation(context, activation, side));
      if (finding) return finding;
    }
  return std::nullopt;
}

namespace {

// A softmax or log-softmax that was applied to one side only.

constexpr std::uint64_t kMaxRows = 128U << 10;  // rows whose sums are kept at a time
constexpr std::size_t kPointsLookedAt = 32;
constexpr std::size_t kPartnersLookedAt = 16;  // per point
constexpr std::size_t kMinAlike = 8;
constexpr double kRoundingsOfTwo = 4;  // in the numbers of both sides

// `raw` is the side without the softmax.
struct Softmax {
  TransformedSide raw{};
  bool logarithm = false;

  long double before(const Point& point) const {
    return raw == TransformedSide::actual ? point.actual : point.golden;
  }
  long double after(const Point& point) const {
    return raw == TransformedSide::actual ? point.golden : point.actual;
  }
  bool may_be_after(long double value) const {
    return logarithm ? value <= 0 : value >= 0 && value <= 1;
  }
  long double logarithm_of(long double after) const { return logarithm ? after : std::log(after); }
};

bool may_be(const SearchContext& context, const Softmax& softmax) {
  for (const auto* points : {&context.mismatches, &context.anywhere})
    if (!std::ranges::all_of(*points, [&](const Point& point) {
          return softmax.may_be_after(softmax.after(point));
        }))
      return false;
  return true;
}

// The rounding of subnormal numbers is too coarse for their logarithm.
bool fine_enough(const SearchContext& context, const Softmax& softmax, long double after) {
  return softmax.logarithm || after >= std::ldexp(1.0L, context.agreement.grid.least_exponent);
}

struct SideValues {
  std::vector<long double> actual;
  std::vector<long double> golden;
};

Result<SideValues> values_at(const SearchContext& context,
                             const std::vector<std::uint64_t>& numbers) {
  SideValues both;
  BTF_ASSIGN(both.actual, context.actual->values(numbers));
  BTF_ASSIGN(both.golden, context.golden->values(numbers));
  return both;
}

// Another element of the row: the largest of some, since most elements of a row with a peak are
// almost 0.
Result<Point> partner_of(const SearchContext& context, const Softmax& softmax, const Along& place,
                         std::uint64_t number) {
  std::vector<std::uint64_t> numbers;
  const std::uint64_t others = place.size - 1;
  const std::uint64_t step = std::max<std::uint64_t>(1, others / kPartnersLookedAt);
  for (std::uint64_t k = 1; k <= others && numbers.size() < kPartnersLookedAt; k += step)
    numbers.push_back(place.number(place.row(number), (place.index(number) + k) % place.size));
  BTF_ASSIGN(const SideValues both, values_at(context, numbers));
  Point best{.actual = both.actual[0], .golden = both.golden[0]};
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const Point other{.actual = both.actual[i], .golden = both.golden[i]};
    if (softmax.after(other) > softmax.after(best)) best = other;
  }
  return best;
}

// Within a row, logarithms differ by as much as the numbers that they were made from.
Result<bool> differ_alike(const SearchContext& context, const Softmax& softmax,
                          const Along& place) {
  const double close = context.agreement.close ? context.agreement.close->rtol : 0;
  const double tolerance =
      std::max({rounding_tolerance(context.agreement), context.agreement.judge.rtol, close});
  std::size_t alike = 0;
  std::size_t others = 0;
  for (const std::size_t i : context.rarest) {
    const Point& point = context.mismatches[i];
    if (!fine_enough(context, softmax, softmax.after(point))) continue;
    BTF_ASSIGN(const Point other, partner_of(context, softmax, place, point.number));
    if (!fine_enough(context, softmax, softmax.after(other))) continue;
    const long double raw = softmax.before(point) - softmax.before(other);
    const long double made =
        softmax.logarithm_of(softmax.after(point)) - softmax.logarithm_of(softmax.after(other));
    if (!std::isfinite(raw) || !std::isfinite(made)) continue;
    const long double size =
        1 + std::abs(softmax.before(point)) + std::abs(softmax.before(other)) + std::abs(made);
    ++(std::abs(raw - made) <= kRoundingsOfTwo * tolerance * size ? alike : others);
    if (others > kPointsLookedAt / 8) return false;
    if (alike + others == kPointsLookedAt) break;
  }
  return alike >= kMinAlike && 8 * others <= alike;
}

struct RowSum {
  long double largest = -std::numeric_limits<long double>::infinity();
  long double sum = 0;  // of exp(x - largest)

  void add(long double x) {
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else if (std::isfinite(x)) {
      sum += std::exp(x - largest);
    }
  }
};

// exp turns the rounding errors of its arguments into relative errors: half a step of the element
// and half a step of the largest in its row.
FitTolerance fit_tolerance(const SearchContext& context, const Softmax& softmax, double widest) {
  constexpr double kMax = 0.25;
  FitTolerance tolerance{.relative = rounding_tolerance(context.agreement)};
  if (softmax.logarithm)
    tolerance.amplified = [](double value, double relative) {
      return std::abs(value) * relative / 2;
    };
  else
    tolerance.relative += std::min(widest * tolerance.relative / 2, kMax);
  return tolerance;
}

SearchResult try_softmax(const SearchContext& context, const Softmax& softmax, std::size_t dim) {
  const Along place = along(context.input.golden.dims(), dim);
  BTF_ASSIGN(const bool alike, differ_alike(context, softmax, place));
  if (!alike) return std::nullopt;
  std::vector<RowSum> rows(context.elements / place.size);
  long double widest = 0;
  BTF_TRY(visit_finite(context, [&](std::uint64_t number, long double actual, long double golden) {
    const long double raw = softmax.raw == TransformedSide::actual ? actual : golden;
    rows[place.row(number)].add(raw);
    widest = std::max(widest, std::abs(raw));
  }));
  const IndexedMap map{.side = softmax.raw,
                       .apply =
                           [&](std::uint64_t number, long double value) {
                             const RowSum& row = rows[place.row(number)];
                             const long double shifted = value - row.largest;
                             return softmax.logarithm ? shifted - std::log(row.sum)
                                                      : std::exp(shifted) / row.sum;
                           },
                       .tolerance = fit_tolerance(context, softmax, static_cast<double>(widest))};
  const double hypotheses = 4.0 * static_cast<double>(context.input.golden.dims().size());
  if (!convincing(context, map.side, fitted_values(context, map, context.mismatches),
                  fitted_values(context, map, context.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  const bool missing = softmax.raw == TransformedSide::actual;
  return Finding{{Cause::activation, (missing ? "golden" : "actual") + std::string(" = ") +
                                         (softmax.logarithm ? "log-softmax of " : "softmax of ") +
                                         (missing ? "actual" : "golden") + " along " +
                                         dim_text(static_cast<std::uint32_t>(dim),
                                                  context.input.golden.dims().size()) +
                                         ": " + fitting_text(context, all)},
                 all.exceptions};
}

}  // namespace

SearchResult find_softmax(const SearchContext& context) {
  const HintInput& input = context.input;
  const Dims& dims = input.golden.dims();
  // Elements that a COO tensor does not store are 0, but a softmax is never 0.
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  for (const TransformedSide raw : {TransformedSide::actual, TransformedSide::golden})
    for (const bool logarithm : {false, true}) {
      const Softmax softmax{raw, logarithm};
      if (!may_be(context, softmax)) continue;
      for (std::size_t d = dims.size(); d-- > 0;) {
        if (dims[d] < 2 || context.elements / dims[d] > kMaxRows) continue;
        BTF_ASSIGN(std::optional<Finding> finding, try_softmax(context, softmax, d));
        if (finding) return finding;
      }
    }
  return std::nullopt;
}

namespace {

// Numbers that were converted to a narrower dtype and back, or lost their last bits.

constexpr int kFewestBits = 3;

// Keeps `bits` significant bits of a number, clearing the others or rounding to nearest.
ElementMap bits_map(TransformedSide side, int bits, bool truncated) {
  return value_map(side, [bits, truncated](auto value) {
    using Real = decltype(value);
    if (value == 0 || !std::isfinite(value)) return value;
    int exponent = 0;
    const Real scaled = std::ldexp(std::frexp(value, &exponent), bits);
    const Real whole = truncated ? std::trunc(scaled) : std::nearbyint(scaled);
    return static_cast<Real>(std::ldexp(whole, exponent - bits));
  });
}

std::string bits_text(int bits) {
  if (bits == 8) return "bfloat16's 8 significant bits";
  if (bits == 11) return "TF32's 11 significant bits";
  return std::to_string(bits) + " significant bits";
}

// Whether the map leaves actual's numbers unchanged, as it must if they were rounded that way.
// Stricter than the tolerance, which may be wider than the rounding.
bool unchanged_by(const SearchContext& context, const ElementMap& map_of_actual) {
  Agreement strict = context.agreement;
  strict.close.reset();
  const Predictions again = mapped(context, map_of_actual, context.anywhere);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < again.size(); ++i) {
    const long double actual = context.anywhere[i].actual;
    if (!std::isnan(actual) && !sampled_agree(actual, *again[i], strict)) ++changed;
  }
  return 50 * changed <= again.size();
}

SearchResult try_lost(const SearchContext& context, const ElementMap& map,
                      const ElementMap& map_of_actual, const std::string& words,
                      double hypotheses) {
  if (!unchanged_by(context, map_of_actual) || !fits_anywhere(context, map) ||
      !convincing(context, map.side, mapped(context, map, context.mismatches),
                  mapped(context, map, context.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  return Finding{
      {Cause::rounding, words + ": " + share_text(all.elements - all.exceptions, all.elements)},
      all.exceptions};
}

}  // namespace

SearchResult find_lost_precision(const SearchContext& context) {
  const DType actual = context.input.actual.dtype();
  const DType golden = context.input.golden.dtype();
  for (const DTypeInfo& row : dtypes()) {
    // bool and powers of two keep too little to be recognised.
    if (row.kind == NumberKind::boolean || row.fp.power_of_two || is_lossless(golden, row.dtype))
      continue;
    BTF_ASSIGN(std::optional<Finding> finding,
               try_lost(context, cast_map(TransformedSide::golden, golden, row.dtype),
                        cast_map(TransformedSide::actual, actual, row.dtype),
                        "actual is golden rounded to " + name_of(row.dtype),
                        static_cast<double>(dtypes().size())));
    if (finding) return finding;
  }
  return std::nullopt;
}

SearchResult find_lost_bits(const SearchContext& context) {
  const DTypeInfo& golden = info(context.input.golden.dtype());
  const DTypeInfo& actual = info(context.input.actual.dtype());
  if (!golden.floating() || !actual.floating()) return std::nullopt;
  // Rounding to actual's own dtype would be a rounding mode.
  const int most = std::min<int>(golden.fp.mantissa_bits, actual.fp.mantissa_bits);
  for (const bool truncated : {true, false})
    for (int bits = most; bits >= kFewestBits; --bits) {
      const std::string how = truncated ? "truncated" : "rounded";
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_lost(context, bits_map(TransformedSide::golden, bits, truncated),
                          bits_map(TransformedSide::actual, bits, truncated),
                          "actual is golden " + how + " to " + bits_text(bits), 2.0 * most));
      if (finding) return finding;
    }
  return std::nullopt;
}

namespace {

// Another rounding mode: mismatches are one step, and all in one direction.

constexpr std::uint64_t kMinRounded = 32;

// Percentage of the elements that could differ: another mode changes about half of all numbers.
constexpr std::uint64_t kMinPercent = 40;
constexpr std::size_t kMinDistinct = 4;  // distinct numbers of golden

enum Direction : std::size_t { to_zero, from_zero, up, down, kDirections };

constexpr std::array<std::string_view, kDirections> kWords{"toward zero", "away from zero", "up",
                                                           "down"};

struct StepTally {
  std::uint64_t elements = 0;    // where golden is neither 0 nor at a limit
  std::uint64_t mismatched = 0;  // after rounding both to the coarser dtype
  std::array<std::uint64_t, kDirections> steps{};
};

// At a limit only one neighbour exists, so a step there says nothing about a direction.
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

// The direction of nearly all mismatches. Steps away from 0 alone may be any noise that was
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

// Pairs that are the same number after rounding both to the coarser dtype.
struct SameTally {
  std::uint64_t elements = 0;
  std::uint64_t same = 0;
  std::uint64_t refused = 0;  // not the same, and the user's tolerance refuses them
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

// The dtype whose steps are counted.
std::string grid_name(const HintInput& input) {
  if (input.judge.grid.integer) return "1";
  const auto dtype = owner_of(input.judge.grid, input.actual.dtype(), input.golden.dtype());
  return dtype ? name_of(*dtype) : "the coarser dtype";
}

// "down", or "down (toward zero)" where all numbers have one sign.
std::string direction_text(Direction direction, const StepTally& tally) {
  std::string text(kWords[direction]);
  if (direction == to_zero || direction == from_zero)
    for (const Direction other : {up, down})
      if (tally.steps[other] == tally.steps[direction])
        return std::string(kWords[other]) + " (" + text + ")";
  return text;
}

}  // namespace

SearchResult find_rounding(const SearchContext& context) {
  const HintInput& input = context.input;
  Judge judge = input.judge;
  judge.equal_nan = true;
  StepTally seen;
  DistinctNumbers<kMinDistinct> distinct;
  for (const Point& point : context.mismatches) {
    const std::uint64_t before = seen.steps[up] + seen.steps[down];
    add_pair(point.actual, point.golden, 1, judge, range_of(input), seen);
    if (seen.steps[up] + seen.steps[down] > before) distinct.add(point.golden);
  }
  if (!direction_of(seen) || seen.mismatched < kMinRounded || !distinct.enough())
    return std::nullopt;
  const bool narrow = fits_double(input.actual.dtype()) && fits_double(input.golden.dtype());
  BTF_ASSIGN(const StepTally all,
             narrow ? tally_all<double>(input, judge) : tally_all<long double>(input, judge));
  const std::optional<Direction> direction = direction_of(all);
  if (!direction || all.mismatched * 100 < kMinPercent * all.elements) return std::nullopt;
  const std::uint64_t stepped = all.steps[*direction];
  return Finding{
      {Cause::rounding, std::to_string(stepped) + " of " + left_over_text(context, all.mismatched) +
                            " are one step of " + grid_name(input) + " " +
                            direction_text(*direction, all) + ", " +
                            std::to_string(stepped * 100 / all.elements) + "% of the elements"},
      all.mismatched - stepped};
}

SearchResult find_coarser_dtype(const SearchContext& context) {
  const HintInput& input = context.input;
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
