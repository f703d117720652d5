#include "kernels/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

namespace btf {
namespace {

// A number that x - x tells from Inf and NaN.
template <typename Real>
bool all_finite(const Real* values, std::uint64_t count) {
  Real sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += values[i] - values[i];
  return sum == 0;
}

// Of finite numbers that differ. Inf if no double is enough.
template <typename Real>
double least_atol(Real error) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto atol = static_cast<double>(error);
  return static_cast<Real>(atol) < error ? std::nextafter(atol, kInf) : atol;
}

// Likewise; no double is enough for a golden 0. It is a step or two from the quotient, and many
// where products are subnormal. Doubles that are not negative sort as their bits do.
template <typename Real>
double least_rtol(Real actual, Real golden) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto enough = [&](double rtol) { return accepts(actual, golden, {.rtol = rtol}); };
  double rtol = error_of(actual, golden).rel;
  while (std::isfinite(rtol) && !enough(rtol)) rtol = std::nextafter(rtol, kInf);
  if (!std::isfinite(rtol)) return kInf;
  auto high = std::bit_cast<std::uint64_t>(rtol);
  std::uint64_t low = 0;
  for (std::uint64_t step = 1; step < high && low == 0; step *= 2) {
    if (enough(std::bit_cast<double>(high - step)))
      high -= step;
    else
      low = high - step;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (enough(std::bit_cast<double>(middle)) ? high : low) = middle;
  }
  return std::bit_cast<double>(high);
}

void keep_worse(ScoredPair& worst, double error, std::uint64_t at) {
  if (!worst.set || error > worst.error) worst = {true, at, error};
}

// True if every pair of the run is accepted and none sets a record, so that the score stays what it
// is. A loop without branches; the margin is for the roundings of the quotient.
bool nothing_new(const double* actual, const double* golden, std::uint64_t count,
                 const Tolerance& tolerance, const CompareScore& score) {
  const double least_rel = score.max_rel * (1 - 0x1p-48);
  std::uint64_t news = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::abs(actual[i] - golden[i]);
    const double size = std::abs(golden[i]);
    const std::uint64_t refused = error > tolerance.atol + tolerance.rtol * size ? 1 : 0;
    const std::uint64_t larger = error > score.max_abs ? 1 : 0;
    const std::uint64_t worse = error > least_rel * size ? 1 : 0;
    news |= refused | larger | worse;
  }
  return news == 0;
}

template <typename Real>
void score_finite(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                  std::uint64_t at, CompareScore& score) {
  const Real error = std::abs(actual - golden);
  if (error == 0) return;
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error))
      return score_finite<long double>(actual, golden, count, tolerance, at, score);
  const PairError errors = error_of(actual, golden);
  score.least_atol = std::max(score.least_atol, least_atol(error));
  if (!accepts(actual, golden, {.rtol = score.least_rtol}))
    score.least_rtol = least_rtol(actual, golden);
  score.max_abs = std::max(score.max_abs, errors.abs);
  score.max_rel = std::max(score.max_rel, errors.rel);
  if (accepts(actual, golden, tolerance)) return;
  score.mismatched += count;
  keep_worse(score.worst_abs, errors.abs, at);
  keep_worse(score.worst_rel, errors.rel, at);
}

template <typename Real>
void score_special(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                   std::uint64_t at, CompareScore& score) {
  if (std::isnan(actual) && std::isnan(golden)) score.nan.both += count;
  if (std::isnan(actual) && !std::isnan(golden)) score.nan.actual += count;
  if (!std::isnan(actual) && std::isnan(golden)) score.nan.golden += count;
  if (std::isinf(actual) && std::isinf(golden))
    (actual == golden ? score.inf.both : score.inf.opposite) += count;
  if (std::isinf(actual) && !std::isinf(golden)) score.inf.actual += count;
  if (!std::isinf(actual) && std::isinf(golden)) score.inf.golden += count;
  if (accepts(actual, golden, tolerance)) return;
  score.mismatched += count;
  score.curable = false;
  if (!score.worst_special.set) score.worst_special = {true, at, 0};
}

template <typename Real>
void score_pair(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                std::uint64_t at, CompareScore& score) {
  if (std::isfinite(actual) && std::isfinite(golden))
    score_finite(actual, golden, count, tolerance, at, score);
  else
    score_special(actual, golden, count, tolerance, at, score);
}

}  // namespace

void CompareScore::add(const CompareScore& other) {
  compared += other.compared;
  mismatched += other.mismatched;
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  least_atol = std::max(least_atol, other.least_atol);
  least_rtol = std::max(least_rtol, other.least_rtol);
  nan.both += other.nan.both;
  nan.actual += other.nan.actual;
  nan.golden += other.nan.golden;
  inf.both += other.inf.both;
  inf.opposite += other.inf.opposite;
  inf.actual += other.inf.actual;
  inf.golden += other.inf.golden;
  curable = curable && other.curable;
}

template <typename Real>
bool accepts(Real actual, Real golden, const Tolerance& tolerance) {
  if (actual == golden) return true;
  if (std::isnan(actual) && std::isnan(golden)) return tolerance.equal_nan;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  const Real error = std::abs(actual - golden);
  const Real magnitude = std::abs(golden);
  // An rtol of Inf allows nothing more where golden is 0.
  const Real relative = magnitude == 0 ? 0 : static_cast<Real>(tolerance.rtol) * magnitude;
  const Real allowed = static_cast<Real>(tolerance.atol) + relative;
  // Two large doubles may be further apart than the largest double.
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error) || std::isinf(allowed))
      return accepts<long double>(actual, golden, tolerance);
  return error <= allowed;
}

template <typename Real>
PairError error_of(Real actual, Real golden) {
  const Real error = std::abs(actual - golden);
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error)) return error_of<long double>(actual, golden);
  if (error == 0) return {};
  return {static_cast<double>(error), static_cast<double>(error / std::abs(golden))};
}

template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count,
                 const Tolerance& tolerance, std::uint64_t at, std::uint64_t stride,
                 CompareScore& score) {
  score.compared += count;
  if (all_finite(actual, count) && all_finite(golden, count)) {
    if (std::equal(actual, actual + count, golden)) return;
    if constexpr (std::is_same_v<Real, double>)
      if (nothing_new(actual, golden, count, tolerance, score)) return;
    for (std::uint64_t i = 0; i < count; ++i)
      score_finite(actual[i], golden[i], 1, tolerance, at + i * stride, score);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i)
    score_pair(actual[i], golden[i], 1, tolerance, at + i * stride, score);
}

template <typename Real>
void compare_many(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                  std::uint64_t at, CompareScore& score) {
  if (count == 0) return;
  score.compared += count;
  score_pair(actual, golden, count, tolerance, at, score);
}

template void compare_run<double>(const double*, const double*, std::uint64_t, const Tolerance&,
                                  std::uint64_t, std::uint64_t, CompareScore&);
template void compare_run<long double>(const long double*, const long double*, std::uint64_t,
                                       const Tolerance&, std::uint64_t, std::uint64_t,
                                       CompareScore&);
template void compare_many<double>(double, double, std::uint64_t, const Tolerance&, std::uint64_t,
                                   CompareScore&);
template void compare_many<long double>(long double, long double, std::uint64_t, const Tolerance&,
                                        std::uint64_t, CompareScore&);
template PairError error_of<double>(double, double);
template PairError error_of<long double>(long double, long double);
template bool accepts<double>(double, double, const Tolerance&);
template bool accepts<long double>(long double, long double, const Tolerance&);

}  // namespace btf
