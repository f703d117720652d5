// Searches for a sign, a scale, an offset, and a scale with an offset.
#include "diff/hints/searches/searches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"

namespace btf::hints {
namespace {

// A fit must hold for this many distinct numbers.
constexpr std::size_t kMinDifferent = 16;
constexpr std::size_t kMinFitted = 16;

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

// A linear law from golden to actual with fitted numbers.
struct Law {
  Cause cause{};
  long double gain = 1;    // of a scale, and of both together
  long double offset = 0;  // of an offset, and of both together
  std::string name{};      // of the gain, if it has one

  template <typename Real>
  Real operator()(Real golden) const {
    const Real scaled = cause == Cause::offset ? golden : static_cast<Real>(gain) * golden;
    return cause == Cause::scale ? scaled : scaled + static_cast<Real>(offset);
  }
};

Law scale_law(long double gain, const std::string& name = "") {
  return {.cause = Cause::scale, .gain = gain, .name = name};
}
Law offset_law(long double offset) { return {.cause = Cause::offset, .offset = offset}; }

// The residual that rounding to multiples may leave.
double rounding_of(const Law& law, const Agreement& agreement) {
  constexpr double kOff = 1.1;  // a fit to rounded numbers is slightly off
  return kOff * (agreement.half_step_of_actual +
                 static_cast<double>(std::abs(law.gain)) * agreement.half_step_of_golden);
}

// saturated(law(value), limits), in loops without conversions and branches.
template <typename Real>
ElementMap::Apply<Real> applied(const Law& law, const Limits& limits) {
  const auto gain = static_cast<Real>(law.cause == Cause::offset ? 1 : law.gain);
  const auto offset = static_cast<Real>(law.offset);
  const bool scale = law.cause == Cause::scale;  // adding 0 would lose the sign of -0
  return [=](const Real* values, const std::byte*, std::uint64_t count, Real* out) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = gain * values[i];
    if (!scale)
      for (std::uint64_t i = 0; i < count; ++i) out[i] += offset;
    if (!limits.has_inf)
      for (std::uint64_t i = 0; i < count; ++i) out[i] = saturated(out[i], limits);
  };
}

ElementMap map_of(const Law& law, const HintInput& input, const Agreement& agreement,
                  const std::vector<Point>& points) {
  const Limits limits = limits_of(input.actual.dtype());
  ElementMap map{.side = TransformedSide::golden,
                 .narrow = applied<double>(law, limits),
                 .wide = applied<long double>(law, limits)};
  const double deviation = spread(points, [&](const Point& p) {
                             return law.cause == Cause::affine ? law(p.golden) : p.golden;
                           }).deviation;
  map.tolerance = FitTolerance{.integer = !info(input.actual.dtype()).floating(),
                               .relative = rounding_tolerance(agreement),
                               .absolute = rounding_of(law, agreement),
                               .share_of_error = 0.03,
                               .most = law.cause == Cause::scale ? HUGE_VAL : 0.03 * deviation,
                               .share_of_actual = law.cause == Cause::scale ? 0.03 : 0.0};
  return map;
}

// All but one in 50.
bool fits_nearly_all(const SearchContext& context, const ElementMap& map,
                     const std::vector<Point>& points) {
  std::size_t wrong = 0;
  for (const Point& point : points) {
    long double value = 0;
    map.wide(&point.golden, nullptr, 1, &value);
    if (fit_of(value, point.actual, point.golden, map, context.agreement) != Fit::none) continue;
    if (50 * ++wrong > points.size()) return false;
  }
  return true;
}

double rest_of(const Law& law, const std::vector<Point>& points) {
  return spread(points, [&](const Point& p) { return p.actual - law(p.golden); }).square;
}

// The residual must be small compared with the error and with the spread of golden; otherwise the
// law says nothing about golden.
bool leaves_little(const Law& law, const std::vector<Point>& points, double half_step) {
  const double rest =
      spread(points, [&](const Point& p) { return p.actual - law(p.golden); }).square;
  const double error = spread(points, [](const Point& p) { return p.actual - p.golden; }).square;
  const double varies = spread(points, [&](const Point& p) { return law(p.golden); }).deviation;
  const double actual = spread(points, [](const Point& p) { return p.actual; }).deviation;
  if (rest <= 0.25 * std::min({error, varies, actual})) return true;
  // Uniform over half a step in either direction.
  const double rounding = half_step / std::sqrt(3.0);
  return rest <= 1.2 * rounding && error >= 2.5 * rounding &&
         rest <= 0.25 * std::min(varies, actual);
}

// "4096 of 4096 elements", "2580 of 4096 elements, 1516 more within 1 of it"
std::string fit_text(const SearchContext& context, const Law& law, const MapTally& all) {
  const bool integer = !info(context.input.actual.dtype()).floating();
  const std::string text = share_text(all.elements - all.exceptions - all.near, all.elements) +
                           within_text(context, all.lenient);
  if (all.near == 0) return text;
  const std::string rest = law.cause != Cause::scale || integer
                               ? number_text(all.rest)
                               : number_text(100 * all.relative_rest) + "%";
  return text + ", " + std::to_string(all.near) + " more within " + rest + " of it";
}

// Rounding can look like a law that nearly holds, so then the law must hold exactly.
SearchContext strict_if_rounded(const SearchContext& context) {
  SearchContext strict = context;
  if (!context.rounded) return strict;
  strict.agreement.close.reset();
  strict.agreement.judge = {.grid = context.agreement.judge.grid};
  strict.agreement.grid = context.agreement.judge.grid;
  strict.agreement.half_step_of_actual = strict.agreement.half_step_of_golden = 0;
  return strict;
}

// "actual = 3.7 * golden + 2"
std::string law_text(const Law& law) {
  const std::string gain = number_text(law.gain) + (law.name.empty() ? "" : " (" + law.name + ")");
  const std::string size = number_text(std::abs(law.offset));
  return "actual = " + (law.cause == Cause::offset ? "" : gain + " * ") + "golden" +
         (law.cause == Cause::scale ? "" : (law.offset < 0 ? " - " : " + ") + size);
}

SearchResult try_law(const SearchContext& given, const Law& law, const std::vector<Point>& points) {
  const SearchContext context = strict_if_rounded(given);
  ElementMap map = map_of(law, context.input, context.agreement, points);
  if (context.rounded) map.tolerance->relative = 0;
  if (!fits_nearly_all(context, map, points)) return std::nullopt;
  DistinctNumbers<kMinDifferent> distinct;
  DistinctNumbers<kMinDifferent / 2> results;
  std::vector<Point> inside;  // where the range of actual does not clip the law
  const Limits limits = limits_of(context.input.actual.dtype());
  for (const Point& point : points) {
    if (saturated(law(point.golden), limits) != law(point.golden)) continue;
    inside.push_back(point);
    distinct.add(point.golden);
    results.add(point.actual);
  }
  if (inside.size() < kMinFitted || !distinct.enough()) return std::nullopt;
  // A line through a single number says nothing about golden.
  if (law.cause == Cause::affine && !results.enough()) return std::nullopt;
  if (!leaves_little(law, inside, rounding_of(law, context.agreement)) ||
      !fits_anywhere(context, map))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all) || (context.rounded && all.near > 0)) return std::nullopt;
  const std::string share = fit_text(context, law, all);
  return Finding{{law.cause, law_text(law) + ": " + share + residual_text(all)},
                 all.exceptions + all.near};
}

struct NamedFactor {
  long double value = 0;
  std::string name;
};

// Factors that are common in practice.
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

// By the larger numbers, on which rounding has the least effect.
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

// By the smaller numbers, where rounding changes an offset least.
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

// The number rounded to `digits` significant decimal digits.
long double rounded(long double value, int digits) {
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1 - digits;
  const long double unit = std::pow(10.0L, static_cast<long double>(std::abs(exponent)));
  return exponent < 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
}

bool is_near(long double plain, long double fitted) {
  return std::abs(plain / fitted - 1) < 0.005L;
}

// The residual that a simpler law may leave.
double most_rest(const Law& fitted_law, DType actual, const std::vector<Point>& points,
                 double half_step) {
  constexpr double kHardly = 1.02;
  // Half a step is a bound here, not only the usual error.
  if (half_step > 0) return kHardly * rest_of(fitted_law, points);
  // At least the residual of rounding to actual's dtype.
  const StepGrid grid = step_grid(actual, actual);
  const double rounding = grid.integer ? 0 : std::ldexp(1.0, -grid.precision);
  return 2 * rest_of(fitted_law, points) +
         rounding * spread(points, [](const Point& p) { return p.actual; }).square;
}

// The law with a factor that has a name.
std::optional<Law> named_scale(const Law& fitted_law, double best,
                               const std::vector<Point>& points) {
  std::optional<Law> named;
  for (const NamedFactor& factor : named_factors())
    for (const int sign : {1, -1}) {
      const Law law = scale_law(sign * factor.value,
                                factor.name.empty() ? "" : (sign < 0 ? "-" : "") + factor.name);
      if (!is_near(law.gain, fitted_law.gain) || rest_of(law, points) > best) continue;
      best = rest_of(law, points);
      named = law;
    }
  return named;
}

// A factor with a name, or else the fewest decimal digits that leave hardly more.
Law plainest(const Law& fitted_law, DType actual, const std::vector<Point>& points,
             double half_step) {
  constexpr int kDigits = 6;
  const double most = most_rest(fitted_law, actual, points, half_step);
  if (fitted_law.cause == Cause::scale)
    if (const auto named = named_scale(fitted_law, most, points)) return *named;
  for (int all = 1; all <= 2 * kDigits; ++all)
    for (int digits = std::max(1, all - kDigits); digits <= std::min(all, kDigits); ++digits) {
      Law law = fitted_law;
      if (law.cause != Cause::offset) law.gain = rounded(law.gain, digits);
      // Tries all ways to divide the digits between the two numbers.
      if (law.cause != Cause::scale) law.offset = rounded(law.offset, std::max(1, all - digits));
      if (is_near(law.gain, fitted_law.gain) &&
          (law.offset == fitted_law.offset || is_near(law.offset, fitted_law.offset)) &&
          rest_of(law, points) <= most)
        return law;
    }
  return fitted_law;
}

// A line through the points, except for a few outliers.
std::optional<Law> fit_line(const std::vector<Point>& points) {
  std::vector<Point> by_golden = points;
  std::ranges::sort(by_golden, {}, &Point::golden);
  const std::size_t half = by_golden.size() / 2;
  std::vector<long double> slopes;
  for (std::size_t i = 0; i + half < by_golden.size(); ++i) {
    const long double run = by_golden[i + half].golden - by_golden[i].golden;
    if (run > 0) slopes.push_back((by_golden[i + half].actual - by_golden[i].actual) / run);
  }
  if (slopes.size() < kMinFitted / 2) return std::nullopt;
  Law line{.cause = Cause::affine, .gain = median(slopes)};
  const auto rests = [&] {
    std::vector<long double> all;
    for (const Point& p : points) all.push_back(std::abs(p.actual - line(p.golden)));
    return all;
  };
  std::vector<long double> heights;
  for (const Point& p : points) heights.push_back(p.actual - line.gain * p.golden);
  line.offset = median(heights);
  // Least squares over the points that are near the line.
  const long double near = 4 * median(rests());
  long double n = 0, sum_g = 0, sum_a = 0, sum_gg = 0, sum_ga = 0;
  const long double centre = by_golden[half].golden;
  for (const Point& p : points) {
    if (std::abs(p.actual - line(p.golden)) > near) continue;
    const long double g = p.golden - centre;
    n += 1;
    sum_g += g;
    sum_a += p.actual;
    sum_gg += g * g;
    sum_ga += g * p.actual;
  }
  const long double variance = n * sum_gg - sum_g * sum_g;
  if (n >= 3 && variance > 0) {
    line.gain = (n * sum_ga - sum_g * sum_a) / variance;
    line.offset = (sum_a - line.gain * sum_g) / n - line.gain * centre;
  }
  if (!std::isfinite(line.gain) || !std::isfinite(line.offset) || line.gain == 0 ||
      line.offset == 0)
    return std::nullopt;
  return line;
}

// Fits the law again to all elements near it. Rounding to multiples moved each by up to half a
// step, and the mismatches alone would be biased in one direction.
Result<Law> refined(const SearchContext& context, const Law& rough, double half_step) {
  long double n = 0, sum_g = 0, sum_a = 0, sum_gg = 0, sum_ga = 0;
  const long double centre = rough.cause == Cause::affine ? context.anywhere.front().golden : 0;
  BTF_TRY(visit_finite(context, [&](std::uint64_t, long double actual, long double golden) {
    if (std::abs(actual - rough(golden)) > 2 * half_step) return;
    const long double g = golden - centre;
    n += 1;
    sum_g += g;
    sum_a += actual;
    sum_gg += g * g;
    sum_ga += g * actual;
  }));
  Law law = rough;
  const long double variance = n * sum_gg - sum_g * sum_g;
  if (rough.cause == Cause::offset && n > 0) law.offset = (sum_a - sum_g) / n;
  if (rough.cause == Cause::scale && sum_gg > 0) law.gain = sum_ga / sum_gg;
  if (rough.cause == Cause::affine && variance > 0) {
    law.gain = (n * sum_ga - sum_g * sum_a) / variance;
    law.offset = (sum_a - law.gain * sum_g) / n - law.gain * centre;
  }
  return law;
}

// Whether the line is clearly better than a scale or an offset alone.
bool needs_both(const Law& line, const std::vector<Point>& points) {
  constexpr double kWorse = 4;
  const double rest = rest_of(line, points);
  const auto gain = fit_scale(points);
  const auto offset = fit_offset(points);
  return (!gain || rest_of(scale_law(*gain), points) > kWorse * rest) &&
         (!offset || rest_of(offset_law(*offset), points) > kWorse * rest);
}

std::optional<Law> fit(Cause cause, const std::vector<Point>& points) {
  if (cause == Cause::affine) {
    const auto line = fit_line(points);
    return line && needs_both(*line, points) ? line : std::nullopt;
  }
  const auto constant = cause == Cause::scale ? fit_scale(points) : fit_offset(points);
  if (!constant) return std::nullopt;
  return cause == Cause::scale ? scale_law(*constant) : offset_law(*constant);
}

SearchResult find_law(const SearchContext& context, Cause cause) {
  const std::vector<Point> points = finite_points(context.mismatches);
  // Some may be Inf or NaN, which no law explains.
  if (points.size() < kMinFitted || 50 * points.size() < 49 * context.mismatches.size())
    return std::nullopt;
  std::optional<Law> law = fit(cause, points);
  if (!law) return std::nullopt;
  const double half_step = rounding_of(*law, context.agreement);
  if (half_step > 0 && !context.rounded) {
    ElementMap near = map_of(*law, context.input, context.agreement, points);
    near.tolerance->absolute *= 2;
    if (!fits_nearly_all(context, near, points)) return std::nullopt;
    BTF_ASSIGN(*law, refined(context, *law, half_step));
  }
  return try_law(context, plainest(*law, context.input.actual.dtype(), points, half_step), points);
}

}  // namespace

SearchResult find_sign(const SearchContext& context) {
  const ElementMap map = value_map(TransformedSide::golden, [](auto golden) { return -golden; });
  if (!convincing(context, map.side, mapped(context, map, context.mismatches),
                  mapped(context, map, context.anywhere), 1))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  return Finding{{Cause::sign, "actual = -golden: " + fitting_text(context, all)}, all.exceptions};
}

SearchResult find_scale(const SearchContext& context) { return find_law(context, Cause::scale); }

SearchResult find_offset(const SearchContext& context) { return find_law(context, Cause::offset); }

SearchResult find_affine(const SearchContext& context) { return find_law(context, Cause::affine); }

}  // namespace btf::hints
