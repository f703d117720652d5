#include "diff/hints/models/element_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agree_words.h"
#include "diff/hints/evidence/wording.h"
#include "diff/pairs/rows.h"
#include "kernels/number/number.h"
#include "kernels/stats/agree_runs.h"
#include "kernels/stats/number_runs.h"

namespace btf::hints {
namespace {

template <typename Real>
Fit fit_within(const ElementMap& map, Real mapped, Real actual, Real golden) {
  if (!std::isfinite(mapped) || !std::isfinite(actual) || !std::isfinite(golden)) return Fit::none;
  const Slack& slack = *map.slack;
  const bool of_actual = map.side == MovedSide::actual;
  const Real rest = std::abs((of_actual ? golden : actual) - mapped);
  Real rounding = static_cast<Real>(slack.relative) * std::abs(mapped);
  if (slack.amplified != nullptr) {
    constexpr double kMost = 0.05;  // or anything would do where the function is steep
    const auto value = static_cast<double>(of_actual ? actual : golden);
    const Real amplified = slack.amplified(value, slack.relative);
    rounding += std::min<Real>(amplified, kMost * (1 + std::abs(mapped)));
  }
  if (rest <= rounding) return Fit::exact;
  if (rest <= rounding + static_cast<Real>(slack.absolute)) return Fit::rounded;
  if (slack.integer && rest < 1) return Fit::near;
  Real most = std::min<Real>(slack.share_of_error * std::abs(actual - golden), slack.most);
  if (slack.share_of_actual > 0)
    most = std::min<Real>(most, slack.share_of_actual * std::abs(actual));
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

// How far `actual` is from what a fit makes of its partner.
template <typename Real>
void add_rest(Real rest, std::uint64_t weight, MapTally& tally) {
  if (!std::isfinite(rest)) return;
  tally.fitted += weight;
  int exponent = 0;
  const Real fraction = std::frexp(std::abs(rest), &exponent);
  constexpr int kLeast = -1100;  // what is less adds nothing that could be seen
  if (rest == 0 || exponent < kLeast) return;
  const Number number{static_cast<std::uint64_t>(std::ldexp(fraction, 64)), exponent - 1, false,
                      Number::Class::finite};
  tally.squares.add_product(number, number, weight);
}

// For a fitted map only rounding to multiples is counted; the rest shows in the residual.
bool counts_lenience(const ElementMap& map) { return !map.slack || map.slack->absolute > 0; }

template <typename Real>
bool is_exact(const ElementMap& map, Real mapped, Real partner) {
  return std::isfinite(mapped) && std::isfinite(partner) &&
         std::abs(partner - mapped) <= static_cast<Real>(map.slack->relative) * std::abs(mapped);
}

Number number_of(double value) {
  return number::decode<DType::float64>(std::bit_cast<std::uint64_t>(value));
}

// Their squares, if double can be trusted with them.
std::optional<Squares> squares_of(const std::array<double, kPairRun>& rests, std::uint64_t count) {
  constexpr double kLeast = 0x1p-700;  // of smaller ones some may have vanished
  const Squares squares = number_runs().squares(rests.data(), count, 0);
  if (squares.sum == 0 || (squares.sum > kLeast && std::isfinite(squares.sum))) return squares;
  return std::nullopt;
}

// Adds the squares of what the map leaves of pairs that fit it. They are summed up run by run, and
// runs are cut by the tensors alone.
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

// Those that fit_within() says are exact where rounding is not amplified.
PairBits within_rounding(const ElementMap& map, const double* from, const double* mapped,
                         const double* partner, std::uint64_t count) {
  PairBits fit;
  predicted_run({from, mapped, partner, count}, map.slack->relative, fit.words.data());
  return fit;
}

PairBits within_rounding(const ElementMap& map, const long double* from, const long double* mapped,
                         const long double* partner, std::uint64_t count) {
  PairBits fit;
  for (std::uint64_t i = 0; i < count; ++i)
    if (std::isfinite(from[i]) && is_exact(map, mapped[i], partner[i])) fit.set(i);
  return fit;
}

// As add_pair() for each of them.
template <typename Real>
void add_pairs(const Inquiry& inquiry, const ElementMap& map, const Real* mapped,
               const Real* actual, const Real* golden, std::uint64_t count, MapTally& tally) {
  const bool of_actual = map.side == MovedSide::actual;
  const Agreement& agreement = inquiry.agreement;
  const Real* left = of_actual ? mapped : actual;
  const Real* right = of_actual ? golden : mapped;
  PairBits fit = agreeing(left, right, count, agreement);
  PairBits lenient = fit;
  lenient.take_out(accepted_pairs(left, right, count, agreement));
  const PairBits same =
      agreeing(of_actual ? actual : mapped, of_actual ? mapped : golden, count, agreement);
  const PairBits agreed = agreeing(actual, golden, count, agreement);
  const Real* partner = of_actual ? golden : actual;
  if (map.slack && (fit.count() != count || lenient.count() != 0)) {
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
  if (map.slack) add_rests(mapped, partner, count, fit, tally);
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
void add_run(const Inquiry& inquiry, const ElementMap& map, const PairRun<Real>& run,
             MapTally& tally) {
  const bool of_actual = map.side == MovedSide::actual;
  std::array<Real, kPairRun> mapped;
  apply_of<Real>(map)(of_actual ? run.actual : run.golden,
                      of_actual ? run.actual_codes : run.golden_codes, run.values(), mapped.data());
  if (run.alike)
    add_pair(inquiry, map, mapped[0], *run.actual, *run.golden, run.count, tally);
  else
    add_pairs(inquiry, map, mapped.data(), run.actual, run.golden, run.count, tally);
}

template <typename Real>
Result<MapTally> tally_all(const Inquiry& inquiry, const ElementMap& map) {
  const PairRows pairs(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<MapTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    add_run(inquiry, map, run, tallies[worker]);
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
void add_pair(const Inquiry& inquiry, const ElementMap& map, Real mapped, Real actual, Real golden,
              std::uint64_t weight, MapTally& tally) {
  const Agreement& agreement = inquiry.agreement;
  const Fit fit = fit_of(mapped, actual, golden, map, agreement);
  const bool telling = map.side == MovedSide::actual ? !agrees(actual, mapped, agreement)
                                                     : !agrees(mapped, golden, agreement);
  const bool mismatch = !agrees(actual, golden, agreement);
  const Real rest = (map.side == MovedSide::actual ? golden : actual) - mapped;
  tally.elements += weight;
  const bool of_actual = map.side == MovedSide::actual;
  const bool known =
      accepted(of_actual ? mapped : actual, of_actual ? golden : mapped, agreement) ||
      (map.slack && is_exact(map, mapped, of_actual ? golden : actual));
  if (fit == Fit::none) tally.exceptions += weight;
  if ((fit == Fit::rounded || fit == Fit::exact) && !known && counts_lenience(map))
    tally.lenient += weight;
  if (fit == Fit::near) add_near(rest, mapped, weight, tally);
  if (map.slack && fit != Fit::none) add_rest(rest, weight, tally);
  if (telling) tally.telling += weight;
  if (mismatch) tally.mismatched += weight;
  if (fit != Fit::none && telling && mismatch) tally.confirmed += weight;
}

template void add_pair(const Inquiry&, const ElementMap&, double, double, double, std::uint64_t,
                       MapTally&);
template void add_pair(const Inquiry&, const ElementMap&, long double, long double, long double,
                       std::uint64_t, MapTally&);

// Two steps of the coarser dtype, or half a step where steps are large.
double relative_slack(const Agreement& agreement) {
  constexpr int kFine = 8;  // significant bits
  const StepGrid& grid = agreement.grid;
  if (grid.integer || grid.precision == 1) return 0;
  return std::ldexp(1.0, grid.precision < kFine ? -grid.precision : 2 - grid.precision);
}

std::string fitting_text(const Inquiry& inquiry, const MapTally& tally) {
  return share_text(tally.elements - tally.exceptions, tally.elements) +
         within_text(inquiry, tally.lenient);
}

std::string residual_text(const MapTally& tally) {
  return ", residual " + short_number_text(tally.residual()) + " rms";
}

template <typename Real>
Fit fit_of(Real mapped, Real actual, Real golden, const ElementMap& map,
           const Agreement& agreement) {
  const bool agree = map.side == MovedSide::actual ? agrees(mapped, golden, agreement)
                                                   : agrees(actual, mapped, agreement);
  if (agree) return Fit::exact;
  return map.slack ? fit_within(map, mapped, actual, golden) : Fit::none;
}

template Fit fit_of(double, double, double, const ElementMap&, const Agreement&);
template Fit fit_of(long double, long double, long double, const ElementMap&, const Agreement&);

Result<MapTally> tally(const Inquiry& inquiry, const ElementMap& map) {
  const PairRows pairs(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution);
  return pairs.use_double() ? tally_all<double>(inquiry, map)
                            : tally_all<long double>(inquiry, map);
}

bool bears_out(const Inquiry&, const MapTally& tally) {
  return tally.confirmed > 0 && tally.exceptions <= tally.mismatched / 100 &&
         2 * tally.confirmed >= tally.telling;
}

Moved fitted_values(const Inquiry& inquiry, const ElementMap& map, std::span<const Point> points) {
  Moved values = mapped(inquiry, map, points);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point& point = points[i];
    if (fit_of(*values[i], point.actual, point.golden, map, inquiry.agreement) != Fit::none)
      values[i] = map.side == MovedSide::actual ? point.golden : point.actual;
  }
  return values;
}

bool fits_anywhere(const Inquiry& inquiry, const ElementMap& map) {
  const std::span all(inquiry.anywhere);
  std::size_t wrong = 0;
  // Most maps fail at the first few.
  for (std::size_t at = 0, count = 4; at < all.size(); at += count, count *= 2) {
    const std::span some = all.subspan(at, std::min(count, all.size() - at));
    const Moved values = mapped(inquiry, map, some);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (fit_of(*values[i], some[i].actual, some[i].golden, map, inquiry.agreement) == Fit::none)
        ++wrong;
    if (50 * wrong > all.size() + 50) return false;
  }
  return true;
}

Moved mapped(const Inquiry& inquiry, const ElementMap& map, std::span<const Point> points) {
  const bool of_actual = map.side == MovedSide::actual;
  const DType dtype = of_actual ? inquiry.input.actual.dtype() : inquiry.input.golden.dtype();
  const std::size_t bytes = info(dtype).buffer_bytes();
  Moved moved;
  std::array<std::byte, sizeof(std::uint64_t)> code;
  for (const Point& point : points) {
    const std::uint64_t bits = of_actual ? point.actual_code : point.golden_code;
    std::memcpy(code.data(), &bits, bytes);
    const long double value = of_actual ? point.actual : point.golden;
    long double out = 0;
    map.wide(&value, code.data(), 1, &out);
    moved.emplace_back(out);
  }
  return moved;
}

}  // namespace btf::hints
