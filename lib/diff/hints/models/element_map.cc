#include "diff/hints/models/element_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "btf/try.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

template <typename Real>
Fit fit_within(const Slack& slack, Real mapped, Real actual, Real golden) {
  if (!std::isfinite(mapped) || !std::isfinite(actual) || !std::isfinite(golden)) return Fit::none;
  const Real rest = std::abs(actual - mapped);
  if (rest <= slack.relative * std::abs(mapped)) return Fit::exact;
  if (slack.integer && rest < 1) return Fit::near;
  Real most = std::min<Real>(slack.share_of_error * std::abs(actual - golden), slack.most);
  if (slack.share_of_actual > 0)
    most = std::min<Real>(most, slack.share_of_actual * std::abs(actual));
  return rest <= most ? Fit::near : Fit::none;
}

template <typename Real>
const ElementMap::Apply<Real>& apply_of(const ElementMap& map) {
  if constexpr (std::is_same_v<Real, double>)
    return map.narrow;
  else
    return map.wide;
}

template <typename Real>
void add_run(const Inquiry& inquiry, const ElementMap& map, const PairRun<Real>& run,
             MapTally& tally) {
  const Agreement& agreement = inquiry.agreement;
  const bool of_actual = map.side == MovedSide::actual;
  std::array<Real, kPairRun> mapped;
  apply_of<Real>(map)(of_actual ? run.actual : run.golden,
                      of_actual ? run.actual_codes : run.golden_codes, run.values(), mapped.data());
  const std::uint64_t weight = run.alike ? run.count : 1;
  for (std::uint64_t i = 0; i < run.values(); ++i) {
    const Real actual = run.actual[i];
    const Real golden = run.golden[i];
    const Fit fit = fit_of(mapped[i], actual, golden, map, agreement);
    const bool telling =
        of_actual ? !agrees(actual, mapped[i], agreement) : !agrees(mapped[i], golden, agreement);
    const bool mismatch = !agrees(actual, golden, agreement);
    tally.elements += weight;
    if (fit == Fit::none) tally.exceptions += weight;
    if (fit == Fit::near) {
      const Real rest = std::abs(actual - mapped[i]);
      tally.near += weight;
      tally.rest = std::max(tally.rest, static_cast<double>(rest));
      tally.relative_rest =
          std::max(tally.relative_rest, static_cast<double>(rest / std::abs(mapped[i])));
    }
    if (telling) tally.telling += weight;
    if (mismatch) tally.mismatched += weight;
    if (fit != Fit::none && telling && mismatch) tally.confirmed += weight;
  }
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
}

template <typename Real>
Fit fit_of(Real mapped, Real actual, Real golden, const ElementMap& map,
           const Agreement& agreement) {
  const bool agree = map.side == MovedSide::actual ? agrees(mapped, golden, agreement)
                                                   : agrees(actual, mapped, agreement);
  if (agree) return Fit::exact;
  return map.slack ? fit_within(*map.slack, mapped, actual, golden) : Fit::none;
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

bool fits_anywhere(const Inquiry& inquiry, const ElementMap& map) {
  const Moved values = mapped(inquiry, map, inquiry.anywhere);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point& point = inquiry.anywhere[i];
    if (fit_of(*values[i], point.actual, point.golden, map, inquiry.agreement) == Fit::none)
      ++wrong;
  }
  return 50 * wrong <= values.size() + 50;
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
