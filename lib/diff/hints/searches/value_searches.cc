// Sign, scale and offset.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/value_limits.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

// What was fitted must hold for so many different numbers, or it is no law.
constexpr std::size_t kLeastDifferent = 16;
constexpr std::size_t kLeastFitted = 16;

std::vector<Point> finite_points(const std::vector<Point>& points) {
  std::vector<Point> finite;
  std::ranges::copy_if(points, std::back_inserter(finite), [](const Point& point) {
    return std::isfinite(point.actual) && std::isfinite(point.golden);
  });
  return finite;
}

long double median(std::vector<long double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// How far from a law rounding may bring a number, relative to it: two steps of the coarser dtype,
// or half a step where steps are large.
double relative_slack(const HintInput& input) {
  constexpr int kFine = 8;  // significant bits
  const StepGrid& grid = input.judge.grid;
  if (grid.integer || grid.precision == 1) return 0;
  return std::ldexp(1.0, grid.precision < kFine ? -grid.precision : 2 - grid.precision);
}

struct Spread {
  double deviation = 0;
  double square = 0;  // root mean square
};

template <typename Value>
Spread spread(const std::vector<Point>& points, Value&& value) {
  long double sum = 0;
  long double squares = 0;
  for (const Point& point : points) {
    const long double v = value(point);
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<long double>(points.size());
  const long double variance = std::max(0.0L, squares / n - sum / n * (sum / n));
  return {static_cast<double>(std::sqrt(variance)), static_cast<double>(std::sqrt(squares / n))};
}

// A law golden -> actual with one fitted number.
struct Law {
  Cause cause{};
  long double constant = 0;
  std::string name;  // of the constant, where it has one

  template <typename Real>
  Real operator()(Real golden) const {
    return cause == Cause::scale ? static_cast<Real>(constant) * golden
                                 : golden + static_cast<Real>(constant);
  }
};

ElementMap map_of(const Law& law, const HintInput& input, const std::vector<Point>& points) {
  const Limits limits = limits_of(input.actual.dtype());
  ElementMap map = value_map(MovedSide::golden,
                             [law, limits](auto golden) { return saturated(law(golden), limits); });
  const double deviation = spread(points, [](const Point& p) { return p.golden; }).deviation;
  map.slack = Slack{.integer = !info(input.actual.dtype()).floating(),
                    .relative = relative_slack(input),
                    .share_of_error = 0.03,
                    .most = law.cause == Cause::scale ? HUGE_VAL : 0.03 * deviation,
                    .share_of_actual = law.cause == Cause::scale ? 0.03 : 0.0};
  return map;
}

std::size_t fitted(const Inquiry& inquiry, const ElementMap& map,
                   const std::vector<Point>& points) {
  std::size_t count = 0;
  for (const Point& point : points) {
    long double value = 0;
    map.wide(&point.golden, nullptr, 1, &value);
    if (fit_of(value, point.actual, point.golden, map, inquiry.agreement) != Fit::none) ++count;
  }
  return count;
}

double rest_of(const Law& law, const std::vector<Point>& points) {
  return spread(points, [&](const Point& p) { return p.actual - law(p.golden); }).square;
}

// What is left must be little beside the error, and beside what golden itself varies: else the law
// says nothing of golden.
bool leaves_little(const Law& law, const std::vector<Point>& points) {
  const double rest =
      spread(points, [&](const Point& p) { return p.actual - law(p.golden); }).square;
  const double error = spread(points, [](const Point& p) { return p.actual - p.golden; }).square;
  const double varies = spread(points, [&](const Point& p) { return law(p.golden); }).deviation;
  const double actual = spread(points, [](const Point& p) { return p.actual; }).deviation;
  return rest <= 0.25 * std::min({error, varies, actual});
}

// "4096 of 4096 elements", "2580 of 4096 elements, 1516 more within 1 of it"
std::string fit_text(const Law& law, bool integer, const MapTally& all) {
  const std::string text = share_text(all.elements - all.exceptions - all.near, all.elements);
  if (all.near == 0) return text;
  const std::string rest = law.cause == Cause::offset || integer
                               ? number_text(all.rest)
                               : number_text(100 * all.relative_rest) + "%";
  return text + ", " + std::to_string(all.near) + " more within " + rest + " of it";
}

// What rounding does can look like a law that holds nearly: then it must hold exactly.
Inquiry strict_if_rounded(const Inquiry& inquiry) {
  Inquiry strict = inquiry;
  if (!inquiry.rounded) return strict;
  strict.agreement.close.reset();
  strict.agreement.judge = {.grid = inquiry.agreement.judge.grid};
  return strict;
}

SearchResult try_law(const Inquiry& given, const Law& law, const std::vector<Point>& points) {
  const Inquiry inquiry = strict_if_rounded(given);
  const ElementMap map = map_of(law, inquiry.input, points);
  std::set<long double> distinct;
  std::vector<Point> inside;  // where actual's range does not cut the law off
  const Limits limits = limits_of(inquiry.input.actual.dtype());
  for (const Point& point : points) {
    if (saturated(law(point.golden), limits) != law(point.golden)) continue;
    inside.push_back(point);
    distinct.insert(point.golden);
  }
  if (inside.size() < kLeastFitted || distinct.size() < kLeastDifferent) return std::nullopt;
  if (50 * (points.size() - fitted(inquiry, map, points)) > points.size()) return std::nullopt;
  if (!leaves_little(law, inside) || !fits_anywhere(inquiry, map)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all) || (inquiry.rounded && all.near > 0)) return std::nullopt;
  const std::string share = fit_text(law, !info(inquiry.input.actual.dtype()).floating(), all);
  const std::string named = law.name.empty() ? "" : " (" + law.name + ")";
  const std::string size = number_text(std::abs(law.constant));
  const std::string text =
      law.cause == Cause::scale
          ? "actual = " + number_text(law.constant) + named + " * golden: " + share
          : "actual = golden " + std::string(law.constant < 0 ? "- " : "+ ") + size + ": " + share;
  return Finding{{law.cause, text}, all.exceptions + all.near};
}

struct NamedFactor {
  long double value = 0;
  std::string name;
};

// Factors that people scale by.
std::vector<NamedFactor> named_factors() {
  std::vector<NamedFactor> factors;
  const auto add = [&](long double whole) {
    factors.push_back({whole, ""});
    factors.push_back({1 / whole, "1/" + number_text(whole)});
  };
  for (int power = 1; power <= 24; ++power) add(std::ldexp(1.0L, power));
  for (const int whole : {3, 5, 6, 7, 9, 10, 12, 15, 100, 127, 255, 1000, 10000, 32767, 65535})
    add(whole);
  return factors;
}

// By the larger numbers: rounding tells least there.
std::optional<long double> fit_scale(const std::vector<Point>& points) {
  std::vector<Point> by_size = points;
  std::ranges::sort(by_size, std::greater{}, [](const Point& p) { return std::abs(p.golden); });
  by_size.resize((by_size.size() + 1) / 2);
  std::vector<long double> ratios;
  for (const Point& point : by_size)
    if (point.golden != 0) ratios.push_back(point.actual / point.golden);
  if (ratios.empty()) return std::nullopt;
  const long double rough = median(ratios);
  long double products = 0;
  long double squares = 0;
  for (const Point& point : by_size) {
    if (std::abs(point.actual - rough * point.golden) > 0.02L * std::abs(point.actual)) continue;
    products += point.actual * point.golden;
    squares += point.golden * point.golden;
  }
  const long double scale = squares > 0 ? products / squares : rough;
  if (!std::isfinite(scale) || scale == 0) return std::nullopt;
  return scale;
}

// By the smaller numbers, where an offset is rounded least.
std::optional<long double> fit_offset(const std::vector<Point>& points) {
  std::vector<Point> by_size = points;
  std::ranges::sort(by_size, {}, [](const Point& p) { return std::abs(p.golden); });
  by_size.resize((by_size.size() + 2) / 3);
  std::vector<long double> errors;
  for (const Point& point : by_size) errors.push_back(point.actual - point.golden);
  const long double offset = median(errors);
  if (!std::isfinite(offset) || offset == 0) return std::nullopt;
  return offset;
}

// The number with so many significant decimal digits.
long double rounded(long double value, int digits) {
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1 - digits;
  const long double unit = std::pow(10.0L, static_cast<long double>(std::abs(exponent)));
  return exponent < 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
}

// The plain constant near the fitted one, if it leaves hardly more: a factor with a name, or else
// the fewest decimal digits.
Law plainest(const Law& fitted_law, DType actual, const std::vector<Point>& points) {
  const auto near = [&](const Law& law) {
    return std::abs(law.constant / fitted_law.constant - 1) < 0.005L;
  };
  // What rounding to actual's dtype leaves, at least.
  const StepGrid grid = step_grid(actual, actual);
  const double rounding = grid.integer ? 0 : std::ldexp(1.0, -grid.precision);
  double best = 2 * rest_of(fitted_law, points) +
                rounding * spread(points, [](const Point& p) { return p.actual; }).square;
  std::optional<Law> named;
  if (fitted_law.cause == Cause::scale)
    for (const NamedFactor& factor : named_factors())
      for (const int sign : {1, -1}) {
        const Law law{Cause::scale, sign * factor.value,
                      factor.name.empty() ? "" : (sign < 0 ? "-" : "") + factor.name};
        if (!near(law) || rest_of(law, points) > best) continue;
        best = rest_of(law, points);
        named = law;
      }
  if (named) return *named;
  for (int digits = 1; digits <= 6; ++digits) {
    const Law law{fitted_law.cause, rounded(fitted_law.constant, digits), ""};
    if (near(law) && rest_of(law, points) <= best) return law;
  }
  return fitted_law;
}

SearchResult find_law(const Inquiry& inquiry, Cause cause) {
  const std::vector<Point> points = finite_points(inquiry.mismatches);
  // Some may be Inf or NaN, but they cannot be told by a law.
  if (points.size() < kLeastFitted || 50 * points.size() < 49 * inquiry.mismatches.size())
    return std::nullopt;
  const auto constant = cause == Cause::scale ? fit_scale(points) : fit_offset(points);
  if (!constant) return std::nullopt;
  return try_law(inquiry, plainest({cause, *constant, ""}, inquiry.input.actual.dtype(), points),
                 points);
}

}  // namespace

SearchResult find_sign(const Inquiry& inquiry) {
  const ElementMap map = value_map(MovedSide::golden, [](auto golden) { return -golden; });
  if (!convincing(inquiry, map.side, mapped(inquiry, map, inquiry.mismatches),
                  mapped(inquiry, map, inquiry.anywhere), 1))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  return Finding{
      {Cause::sign, "actual = -golden: " + share_text(all.elements - all.exceptions, all.elements)},
      all.exceptions};
}

SearchResult find_scale(const Inquiry& inquiry) { return find_law(inquiry, Cause::scale); }

SearchResult find_offset(const Inquiry& inquiry) { return find_law(inquiry, Cause::offset); }

}  // namespace btf::hints
