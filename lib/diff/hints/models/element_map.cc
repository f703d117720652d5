#include "diff/hints/models/element_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"
#include "kernels/number/number.h"
#include "kernels/number/widen.h"
#include "kernels/stats/stats.h"

namespace btf::hints {

ElementMap cast_map(TransformedSide side, DType stored, DType through, const CastPolicy& policy) {
  const auto apply = [=](const auto*, const std::byte* codes, std::uint64_t count, auto* out) {
    using Real = std::remove_reference_t<decltype(*out)>;
    std::array<std::byte, kPairRun * sizeof(std::uint64_t)> cast;
    LossAccount account;
    cast_run({stored, through, policy}, codes, cast.data(), count, account);
    widener<Real>(through)(cast.data(), 1, count, out);
  };
  return {.side = side, .narrow = apply, .wide = apply};
}

namespace {

std::uint64_t swap_parts(std::uint64_t code, unsigned bits, unsigned part) {
  const std::uint64_t mask = (std::uint64_t{1} << part) - 1;
  std::uint64_t swapped = 0;
  for (unsigned at = 0; at < bits; at += part) swapped |= (code >> at & mask) << (bits - part - at);
  return swapped;
}

constexpr auto kChanges = std::to_array<BitChange>({
    {"bytes reversed", Cause::byte_order, 16, 64,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, 8); }},
    {"halves exchanged", Cause::byte_order, 32, 64,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, bits / 2); }},
    {"nibbles exchanged", Cause::nibble_order, 8, 8,
     [](std::uint64_t code, unsigned bits) { return swap_parts(code, bits, 4); }},
});

void change_codes(const BitChange& change, const DTypeInfo& row, std::byte* codes,
                  std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, codes + i * row.buffer_bytes(), row.buffer_bytes());
    code = change.apply(code, row.bits);
    std::memcpy(codes + i * row.buffer_bytes(), &code, row.buffer_bytes());
  }
}

// A number that `taken_as` cannot represent becomes NaN, which agrees with no number.
template <typename Real>
void blank_inexact(const Real* values, const Real* taken, std::uint64_t count, Real* out) {
  for (std::uint64_t i = 0; i < count; ++i)
    if (values[i] != taken[i] && !(std::isnan(values[i]) && std::isnan(taken[i])))
      out[i] = std::numeric_limits<Real>::quiet_NaN();
}

template <typename Real>
void read_codes(const CodeReading& reading, const Real* values, const std::byte* codes,
                std::uint64_t count, Real* out) {
  std::array<std::byte, kPairRun * sizeof(std::uint64_t)> bits;
  const DTypeInfo& row = info(reading.taken_as);
  const bool cast = reading.stored != reading.taken_as;
  if (cast) {
    LossAccount account;
    cast_run({reading.stored, reading.taken_as, {}}, codes, bits.data(), count, account);
  } else {
    std::memcpy(bits.data(), codes, count * row.buffer_bytes());
  }
  std::array<Real, kPairRun> taken;
  if (cast && !reading.rounded)
    widener<Real>(reading.taken_as)(bits.data(), 1, count, taken.data());
  if (reading.change != nullptr) change_codes(*reading.change, row, bits.data(), count);
  widener<Real>(reading.is)(bits.data(), 1, count, out);
  if (cast && !reading.rounded) blank_inexact(values, taken.data(), count, out);
}

std::string scale_text(const CodeReading& reading) {
  if (!only_scales(reading)) return "";
  const FloatGeometry& one = info(reading.taken_as).fp;
  const FloatGeometry& other = info(reading.is).fp;
  return " (" + number_text(std::ldexp(1.0L, one.bias - other.bias)) + " times the numbers)";
}

// Whether one of the dtypes of the reading is that of the side itself or of the other side.
bool known_to_sides(const HintInput& input, const CodeReading& reading) {
  const DType other =
      reading.side == TransformedSide::actual ? input.golden.dtype() : input.actual.dtype();
  return reading.stored == reading.taken_as || reading.is == other;
}

// Fewer distinct numbers may agree by chance.
constexpr std::size_t kMinNumbers = 16;

bool many_numbers(const Predictions& values) {
  DistinctNumbers<kMinNumbers> numbers;
  for (const auto& value : values)
    if (value && !std::isnan(*value)) numbers.add(*value);
  return numbers.enough();
}

}  // namespace

std::span<const BitChange> bit_changes() { return kChanges; }

bool only_scales(const CodeReading& reading) {
  const DTypeInfo& one = info(reading.taken_as);
  const DTypeInfo& other = info(reading.is);
  return reading.change == nullptr && one.floating() && other.floating() &&
         one.fp.mantissa_bits == other.fp.mantissa_bits && one.fp.bias != other.fp.bias;
}

std::string reading_words(const CodeReading& reading) {
  const bool actual = reading.side == TransformedSide::actual;
  const std::string side = actual ? "actual" : "golden";
  const std::string equal = actual ? " equals golden" : " equals actual";
  if (reading.rounded)
    return (actual ? "golden holds actual's " : "actual holds golden's ") +
           name_of(reading.taken_as) + " bits read as " + name_of(reading.is) + scale_text(reading);
  if (reading.change != nullptr && reading.stored == reading.taken_as)
    return side + equal + " with its " + std::string(reading.change->what);
  if (reading.change != nullptr)
    return side + equal + " with the " + std::string(reading.change->what) + " of its values as " +
           name_of(reading.taken_as);
  return side + equal + " when its " + name_of(reading.taken_as) + " bits are read as " +
         name_of(reading.is) + scale_text(reading);
}

ElementMap reading_map(const CodeReading& reading) {
  const auto apply = [reading](const auto* values, const std::byte* codes, std::uint64_t count,
                               auto* out) { read_codes(reading, values, codes, count, out); };
  return {.side = reading.side, .narrow = apply, .wide = apply};
}

SearchResult try_reading(const SearchContext& context, const CodeReading& reading,
                         double hypotheses) {
  const ElementMap map = reading_map(reading);
  constexpr std::size_t kFew = 16;
  const std::span few = std::span(context.rarest).first(std::min(kFew, context.rarest.size()));
  std::vector<Point> points;
  for (const std::size_t i : few) points.push_back(context.mismatches[i]);
  if (!promising(context, reading.side, few, mapped(context, map, points))) return std::nullopt;
  if ((reading.rounded || !known_to_sides(context.input, reading)) &&
      !many_numbers(mapped(context, map, context.mismatches)))
    return std::nullopt;
  if (!convincing(context, reading.side, mapped(context, map, context.mismatches),
                  mapped(context, map, context.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  const Cause cause = reading.change != nullptr ? reading.change->cause : Cause::dtype_misread;
  return Finding{{cause, reading_words(reading) + ": " + fitting_text(context, all)},
                 all.exceptions};
}

namespace {

template <typename Real>
Result<MapTally> tally_indexed(const SearchContext& context, const IndexedMap& map) {
  const ElementMap whole{.side = map.side, .narrow = {}, .wide = {}, .tolerance = map.tolerance};
  const PairRows pairs(context.input.actual, context.input.golden, context.input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<MapTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    ElementMap fitted = whole;
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      if (map.absolute) fitted.tolerance->absolute = map.absolute(run.first + i);
      const Real value = map.side == TransformedSide::actual ? run.actual[i] : run.golden[i];
      const auto result = static_cast<Real>(map.apply(run.first + i, value));
      add_pair(context, fitted, result, run.actual[i], run.golden[i], run.alike ? run.count : 1,
               tallies[worker]);
    }
  }));
  MapTally all;
  for (const MapTally& one : tallies) all.add(one);
  return all;
}

template <typename Real>
Status visit_real(const SearchContext& context, const FinitePair& visit) {
  // In row-major order, since sums would otherwise differ in their last digit.
  const PairRows pairs(context.input.actual, context.input.golden, context.input.execution,
                       PairOrder::row_major);
  return pairs.walk<Real>([&](unsigned, std::uint64_t, const PairRun<Real>& run) {
    if (run.alike && run.actual[0] == run.golden[0]) return;
    for (std::uint64_t i = 0; i < run.values(); ++i)
      if (std::isfinite(run.actual[i]) && std::isfinite(run.golden[i]))
        visit(run.first + i, run.actual[i], run.golden[i]);
  });
}

bool use_double(const SearchContext& context) {
  return PairRows(context.input.actual, context.input.golden, context.input.execution).use_double();
}

}  // namespace

Result<MapTally> tally(const SearchContext& context, const IndexedMap& map) {
  return use_double(context) ? tally_indexed<double>(context, map)
                             : tally_indexed<long double>(context, map);
}

Predictions mapped(const IndexedMap& map, std::span<const Point> points) {
  Predictions predicted;
  for (const Point& point : points)
    predicted.emplace_back(
        map.apply(point.number, map.side == TransformedSide::actual ? point.actual : point.golden));
  return predicted;
}

Predictions fitted_values(const SearchContext& context, const IndexedMap& map,
                          std::span<const Point> points) {
  const ElementMap fitted{.side = map.side, .narrow = {}, .wide = {}, .tolerance = map.tolerance};
  Predictions values = mapped(map, points);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point& point = points[i];
    if (fit_of(*values[i], point.actual, point.golden, fitted, context.agreement) != Fit::none)
      values[i] = map.side == TransformedSide::actual ? point.golden : point.actual;
  }
  return values;
}

Status visit_finite(const SearchContext& context, const FinitePair& visit) {
  return use_double(context) ? visit_real<double>(context, visit)
                             : visit_real<long double>(context, visit);
}

Along along(const Dims& dims, std::size_t dim) {
  Along result{.size = dims[dim]};
  for (std::size_t d = dim + 1; d < dims.size(); ++d) result.inner *= dims[d];
  return result;
}

namespace {

template <typename Real>
Fit fit_within(const ElementMap& map, Real mapped, Real actual, Real golden) {
  if (!std::isfinite(mapped) || !std::isfinite(actual) || !std::isfinite(golden)) return Fit::none;
  const FitTolerance& tolerance = *map.tolerance;
  const bool of_actual = map.side == TransformedSide::actual;
  const Real rest = std::abs((of_actual ? golden : actual) - mapped);
  Real rounding = static_cast<Real>(tolerance.relative) * std::abs(mapped);
  if (tolerance.amplified != nullptr) {
    constexpr double kMax = 0.05;  // otherwise a steep function would fit anything
    const auto value = static_cast<double>(of_actual ? actual : golden);
    const Real amplified = tolerance.amplified(value, tolerance.relative);
    rounding += std::min<Real>(amplified, kMax * (1 + std::abs(mapped)));
  }
  if (rest <= rounding) return Fit::exact;
  if (rest <= rounding + static_cast<Real>(tolerance.absolute)) return Fit::rounded;
  if (tolerance.integer && rest < 1) return Fit::near;
  Real most = std::min<Real>(tolerance.share_of_error * std::abs(actual - golden), tolerance.most);
  if (tolerance.share_of_actual > 0)
    most = std::min<Real>(most, tolerance.share_of_actual * std::abs(actual));
  return rest <= most ? Fit::near : Fit::none;
}

template <typename Real>
void add_near(Real rest, Real mapped, std::uint64_t weight, MapTally& tally) {
  tally.near += weight;
  tally.rest = std::max(tally.rest, static_cast<double>(std::abs(rest)));
  tally.relative_rest = std::max(tally.relative_rest, static_cast<double>(std::abs(rest / mapped)));
}

template <typename Real>
const ElementMap::Apply<Real>& apply_of(const ElementMap& map) {
  if constexpr (std::is_same_v<Real, double>)
    return map.narrow;
  else
    return map.wide;
}

// Adds the distance of an element from the prediction.
template <typename Real>
void add_rest(Real rest, std::uint64_t weight, MapTally& tally) {
  if (!std::isfinite(rest)) return;
  tally.fitted += weight;
  int exponent = 0;
  const Real fraction = std::frexp(std::abs(rest), &exponent);
  constexpr int kMin = -1100;  // smaller ones would add nothing visible
  if (rest == 0 || exponent < kMin) return;
  const Number number{static_cast<std::uint64_t>(std::ldexp(fraction, 64)), exponent - 1, false,
                      Number::Class::finite};
  tally.squares.add_product(number, number, weight);
}

// Of a fitted map only rounding to multiples counts as lenient; the rest shows in the residual.
bool counts_lenience(const ElementMap& map) {
  return !map.tolerance || map.tolerance->absolute > 0;
}

template <typename Real>
bool is_exact(const ElementMap& map, Real mapped, Real partner) {
  return std::isfinite(mapped) && std::isfinite(partner) &&
         std::abs(partner - mapped) <=
             static_cast<Real>(map.tolerance->relative) * std::abs(mapped);
}

Number number_of(double value) {
  return number::decode<DType::float64>(std::bit_cast<std::uint64_t>(value));
}

// Their squares; unset if double cannot represent the sum reliably.
std::optional<Squares> squares_of(const std::array<double, kPairRun>& rests, std::uint64_t count) {
  constexpr double kMin = 0x1p-700;  // below this, some squares may have underflowed
  const Squares squares = number_runs().squares(rests.data(), count, 0);
  if (squares.sum == 0 || (squares.sum > kMin && std::isfinite(squares.sum))) return squares;
  return std::nullopt;
}

// Adds the squares of what the map leaves of pairs that fit it. They are summed run by run, and the
// runs depend on the tensors only.
void add_rests(const double* mapped, const double* partner, std::uint64_t count,
               const PairBits& fit, MapTally& tally) {
  std::array<double, kPairRun> rests;
  std::uint64_t finite = count;
  for (std::uint64_t i = 0; i < count; ++i) rests[i] = partner[i] - mapped[i];
  std::optional<Squares> squares;
  if (fit.count() == count) squares = squares_of(rests, count);
  if (!squares) {
    finite = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      rests[finite] = rests[i];
      finite += fit[i] && std::isfinite(rests[i]) ? 1 : 0;
    }
    squares = squares_of(rests, finite);
  }
  if (!squares) {
    for (std::uint64_t i = 0; i < finite; ++i) add_rest(rests[i], 1, tally);
    return;
  }
  tally.fitted += finite;
  if (squares->sum == 0) return;
  tally.squares.add(number_of(squares->sum));
  tally.squares.add(number_of(squares->rest));
}

void add_rests(const long double* mapped, const long double* partner, std::uint64_t count,
               const PairBits& fit, MapTally& tally) {
  for (std::uint64_t i = 0; i < count; ++i)
    if (fit[i]) add_rest(partner[i] - mapped[i], 1, tally);
}

// The pairs that fit_within() would call exact, where rounding is not amplified.
PairBits within_rounding(const ElementMap& map, const double* from, const double* mapped,
                         const double* partner, std::uint64_t count) {
  PairBits fit;
  predicted_run({from, mapped, partner, count}, map.tolerance->relative, fit.words.data());
  return fit;
}

PairBits within_rounding(const ElementMap& map, const long double* from, const long double* mapped,
                         const long double* partner, std::uint64_t count) {
  PairBits fit;
  for (std::uint64_t i = 0; i < count; ++i)
    if (std::isfinite(from[i]) && is_exact(map, mapped[i], partner[i])) fit.set(i);
  return fit;
}

// add_pair() for each of the pairs.
template <typename Real>
void add_pairs(const SearchContext& context, const ElementMap& map, const Real* mapped,
               const Real* actual, const Real* golden, std::uint64_t count, MapTally& tally) {
  const bool of_actual = map.side == TransformedSide::actual;
  const Agreement& agreement = context.agreement;
  const Real* left = of_actual ? mapped : actual;
  const Real* right = of_actual ? golden : mapped;
  PairBits fit = agreeing(left, right, count, agreement);
  PairBits lenient = fit;
  lenient.take_out(accepted_pairs(left, right, count, agreement));
  const PairBits same =
      agreeing(of_actual ? actual : mapped, of_actual ? mapped : golden, count, agreement);
  const PairBits agreed = agreeing(actual, golden, count, agreement);
  const Real* partner = of_actual ? golden : actual;
  if (map.tolerance && (fit.count() != count || lenient.count() != 0)) {
    const PairBits exact =
        within_rounding(map, of_actual ? actual : golden, mapped, partner, count);
    fit |= exact;
    lenient.take_out(exact);
    PairBits others = PairBits::first(count);
    others.take_out(fit);
    others.for_each([&](std::uint64_t i) {
      const Fit within = fit_within(map, mapped[i], actual[i], golden[i]);
      if (within != Fit::none) fit.set(i);
      if (within == Fit::rounded) lenient.set(i);
      if (within == Fit::near) add_near(partner[i] - mapped[i], mapped[i], 1, tally);
    });
  }
  if (map.tolerance) add_rests(mapped, partner, count, fit, tally);
  tally.elements += count;
  tally.exceptions += count - fit.count();
  tally.telling += count - same.count();
  tally.mismatched += count - agreed.count();
  if (counts_lenience(map)) tally.lenient += lenient.count();
  fit.take_out(same);
  fit.take_out(agreed);
  tally.confirmed += fit.count();
}

template <typename Real>
void add_run(const SearchContext& context, const ElementMap& map, const PairRun<Real>& run,
             MapTally& tally) {
  const bool of_actual = map.side == TransformedSide::actual;
  std::array<Real, kPairRun> mapped;
  apply_of<Real>(map)(of_actual ? run.actual : run.golden,
                      of_actual ? run.actual_codes : run.golden_codes, run.values(), mapped.data());
  if (run.alike)
    add_pair(context, map, mapped[0], *run.actual, *run.golden, run.count, tally);
  else
    add_pairs(context, map, mapped.data(), run.actual, run.golden, run.count, tally);
}

template <typename Real>
Result<MapTally> tally_all(const SearchContext& context, const ElementMap& map) {
  const PairRows pairs(context.input.actual, context.input.golden, context.input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<MapTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    add_run(context, map, run, tallies[worker]);
  }));
  MapTally all;
  for (const MapTally& one : tallies) all.add(one);
  return all;
}

}  // namespace

void MapTally::add(const MapTally& other) {
  elements += other.elements;
  exceptions += other.exceptions;
  near += other.near;
  rest = std::max(rest, other.rest);
  relative_rest = std::max(relative_rest, other.relative_rest);
  telling += other.telling;
  confirmed += other.confirmed;
  mismatched += other.mismatched;
  lenient += other.lenient;
  fitted += other.fitted;
  squares.add(other.squares);
}

double MapTally::residual() const {
  if (fitted == 0) return 0;
  const Number sum = squares.number();
  const double value = std::ldexp(static_cast<double>(sum.significand), sum.exponent - 63);
  return sum.kind == Number::Class::zero ? 0 : std::sqrt(value / static_cast<double>(fitted));
}

template <typename Real>
void add_pair(const SearchContext& context, const ElementMap& map, Real mapped, Real actual,
              Real golden, std::uint64_t weight, MapTally& tally) {
  const Agreement& agreement = context.agreement;
  const Fit fit = fit_of(mapped, actual, golden, map, agreement);
  const bool telling = map.side == TransformedSide::actual ? !agrees(actual, mapped, agreement)
                                                           : !agrees(mapped, golden, agreement);
  const bool mismatch = !agrees(actual, golden, agreement);
  const Real rest = (map.side == TransformedSide::actual ? golden : actual) - mapped;
  tally.elements += weight;
  const bool of_actual = map.side == TransformedSide::actual;
  const bool known =
      accepted(of_actual ? mapped : actual, of_actual ? golden : mapped, agreement) ||
      (map.tolerance && is_exact(map, mapped, of_actual ? golden : actual));
  if (fit == Fit::none) tally.exceptions += weight;
  if ((fit == Fit::rounded || fit == Fit::exact) && !known && counts_lenience(map))
    tally.lenient += weight;
  if (fit == Fit::near) add_near(rest, mapped, weight, tally);
  if (map.tolerance && fit != Fit::none) add_rest(rest, weight, tally);
  if (telling) tally.telling += weight;
  if (mismatch) tally.mismatched += weight;
  if (fit != Fit::none && telling && mismatch) tally.confirmed += weight;
}

template void add_pair(const SearchContext&, const ElementMap&, double, double, double,
                       std::uint64_t, MapTally&);
template void add_pair(const SearchContext&, const ElementMap&, long double, long double,
                       long double, std::uint64_t, MapTally&);

// Two steps of the coarser dtype, or half a step if it has few significant bits.
double rounding_tolerance(const Agreement& agreement) {
  constexpr int kFine = 8;  // significant bits
  const StepGrid& grid = agreement.grid;
  if (grid.integer || grid.precision == 1) return 0;
  return std::ldexp(1.0, grid.precision < kFine ? -grid.precision : 2 - grid.precision);
}

std::string fitting_text(const SearchContext& context, const MapTally& tally) {
  return share_text(tally.elements - tally.exceptions, tally.elements) +
         within_text(context, tally.lenient);
}

std::string residual_text(const MapTally& tally) {
  return ", residual " + short_number_text(tally.residual()) + " rms";
}

template <typename Real>
Fit fit_of(Real mapped, Real actual, Real golden, const ElementMap& map,
           const Agreement& agreement) {
  const bool agree = map.side == TransformedSide::actual ? agrees(mapped, golden, agreement)
                                                         : agrees(actual, mapped, agreement);
  if (agree) return Fit::exact;
  return map.tolerance ? fit_within(map, mapped, actual, golden) : Fit::none;
}

template Fit fit_of(double, double, double, const ElementMap&, const Agreement&);
template Fit fit_of(long double, long double, long double, const ElementMap&, const Agreement&);

Result<MapTally> tally(const SearchContext& context, const ElementMap& map) {
  const PairRows pairs(context.input.actual, context.input.golden, context.input.execution);
  return pairs.use_double() ? tally_all<double>(context, map)
                            : tally_all<long double>(context, map);
}

bool confirms(const SearchContext&, const MapTally& tally) {
  return tally.confirmed > 0 && tally.exceptions <= tally.mismatched / 100 &&
         2 * tally.confirmed >= tally.telling;
}

Predictions fitted_values(const SearchContext& context, const ElementMap& map,
                          std::span<const Point> points) {
  Predictions values = mapped(context, map, points);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point& point = points[i];
    if (fit_of(*values[i], point.actual, point.golden, map, context.agreement) != Fit::none)
      values[i] = map.side == TransformedSide::actual ? point.golden : point.actual;
  }
  return values;
}

bool fits_anywhere(const SearchContext& context, const ElementMap& map) {
  const std::span all(context.anywhere);
  std::size_t wrong = 0;
  // Most maps fail at the first few points.
  for (std::size_t at = 0, count = 4; at < all.size(); at += count, count *= 2) {
    const std::span some = all.subspan(at, std::min(count, all.size() - at));
    const Predictions values = mapped(context, map, some);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (fit_of(*values[i], some[i].actual, some[i].golden, map, context.agreement) == Fit::none)
        ++wrong;
    if (50 * wrong > all.size() + 50) return false;
  }
  return true;
}

Predictions mapped(const SearchContext& context, const ElementMap& map,
                   std::span<const Point> points) {
  const bool of_actual = map.side == TransformedSide::actual;
  const DType dtype = of_actual ? context.input.actual.dtype() : context.input.golden.dtype();
  const std::size_t bytes = info(dtype).buffer_bytes();
  Predictions predicted;
  std::array<std::byte, sizeof(std::uint64_t)> code;
  for (const Point& point : points) {
    const std::uint64_t bits = of_actual ? point.actual_code : point.golden_code;
    std::memcpy(code.data(), &bits, bytes);
    const long double value = of_actual ? point.actual : point.golden;
    long double out = 0;
    map.wide(&value, code.data(), 1, &out);
    predicted.emplace_back(out);
  }
  return predicted;
}

}  // namespace btf::hints
