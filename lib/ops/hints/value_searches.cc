// Sign, scale and offset.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "core/try.h"
#include "ops/hints/element_map.h"
#include "ops/hints/searches.h"
#include "ops/hints/value_limits.h"
#include "ops/hints/wording.h"

namespace btf::hints {
namespace {

// What was fitted must hold for so many different numbers, or it is no law.
constexpr std::size_t kLeastDistinct = 8;
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

// Steps of the coarser dtype, relative to a number.
double relative_step(const HintInput& input) {
  const StepGrid& grid = input.judge.grid;
  return grid.integer ? 0 : std::ldexp(1.0, 1 - grid.precision);
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
                    .relative = 2 * relative_step(input),
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
    if (fits(value, point.actual, point.golden, map, inquiry.agreement)) ++count;
  }
  return count;
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

SearchResult try_law(const Inquiry& inquiry, const Law& law, const std::vector<Point>& points) {
  const ElementMap map = map_of(law, inquiry.input, points);
  std::set<long double> distinct;
  std::vector<Point> inside;  // where actual's range does not cut the law off
  const Limits limits = limits_of(inquiry.input.actual.dtype());
  for (const Point& point : points) {
    if (saturated(law(point.golden), limits) != law(point.golden)) continue;
    inside.push_back(point);
    distinct.insert(point.golden);
  }
  if (inside.size() < kLeastFitted || distinct.size() < kLeastDistinct) return std::nullopt;
  if (50 * (points.size() - fitted(inquiry, map, points)) > points.size()) return std::nullopt;
  if (!leaves_little(law, inside)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  const std::string share = share_text(all.elements - all.exceptions, all.elements);
  const std::string named = law.name.empty() ? "" : " (" + law.name + ")";
  const std::string size = number_text(std::abs(law.constant));
  const std::string text =
      law.cause == Cause::scale
          ? "actual = " + number_text(law.constant) + named + " * golden: " + share
          : "actual = golden " + std::string(law.constant < 0 ? "- " : "+ ") + size + ": " + share;
  return Finding{{law.cause, text}, all.exceptions};
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

// The plain constant near the fitted one, if it fits as well.
Law plainest(const Inquiry& inquiry, const Law& fitted_law, const std::vector<Point>& points) {
  const auto count = [&](const Law& law) {
    return fitted(inquiry, map_of(law, inquiry.input, points), points);
  };
  const std::size_t best = count(fitted_law);
  std::vector<Law> laws;
  if (fitted_law.cause == Cause::scale)
    for (const NamedFactor& factor : named_factors())
      for (const int sign : {1, -1})
        laws.push_back({Cause::scale, sign * factor.value,
                        factor.name.empty() ? "" : (sign < 0 ? "-" : "") + factor.name});
  for (int digits = 1; digits <= 6; ++digits)
    laws.push_back({fitted_law.cause, rounded(fitted_law.constant, digits), ""});
  for (const Law& law : laws)
    if (std::abs(law.constant / fitted_law.constant - 1) < 0.005L && count(law) >= best) return law;
  return fitted_law;
}

SearchResult find_law(const Inquiry& inquiry, Cause cause) {
  const std::vector<Point> points = finite_points(inquiry.mismatches);
  // Some may be Inf or NaN, but they cannot be told by a law.
  if (points.size() < kLeastFitted || 50 * points.size() < 49 * inquiry.mismatches.size())
    return std::nullopt;
  const auto constant = cause == Cause::scale ? fit_scale(points) : fit_offset(points);
  if (!constant) return std::nullopt;
  return try_law(inquiry, plainest(inquiry, {cause, *constant, ""}, points), points);
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
