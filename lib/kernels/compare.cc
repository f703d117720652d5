#include "kernels/compare.h"

#include <algorithm>
#include <cmath>

namespace btf {
namespace {

// A number that x - x tells from Inf and NaN.
template <typename Real>
bool all_finite(const Real* values, std::uint64_t count) {
  Real sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += values[i] - values[i];
  return sum == 0;
}

// error is not 0.
template <typename Real>
double relative(Real error, Real golden) {
  if (golden == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(error / std::abs(golden));
}

// The least rtol with error <= rtol * |golden| as accepts() computes it: the quotient, or a step
// more where it was rounded down.
template <typename Real>
double least_rtol(Real error, Real golden) {
  double rtol = relative(error, golden);
  while (static_cast<Real>(rtol) * std::abs(golden) < error && std::isfinite(rtol))
    rtol = std::nextafter(rtol, std::numeric_limits<double>::infinity());
  return rtol;
}

void keep_worse(ScoredPair& worst, double error, std::uint64_t at) {
  if (!worst.set || error > worst.error) worst = {true, at, error};
}

template <typename Real>
void score_finite(Real actual, Real golden, std::uint64_t count, const Tolerance& tolerance,
                  std::uint64_t at, CompareScore& score) {
  const Real error = std::abs(actual - golden);
  if (error == 0) return;
  const double rel = relative(error, golden);
  score.least_rtol = std::max(score.least_rtol, least_rtol(error, golden));
  score.max_abs = std::max(score.max_abs, static_cast<double>(error));
  score.max_rel = std::max(score.max_rel, rel);
  if (accepts(actual, golden, tolerance)) return;
  score.mismatched += count;
  keep_worse(score.worst_abs, static_cast<double>(error), at);
  keep_worse(score.worst_rel, rel, at);
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
  return std::abs(actual - golden) <=
         static_cast<Real>(tolerance.atol) + static_cast<Real>(tolerance.rtol) * std::abs(golden);
}

template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count,
                 const Tolerance& tolerance, std::uint64_t at, std::uint64_t stride,
                 CompareScore& score) {
  score.compared += count;
  if (all_finite(actual, count) && all_finite(golden, count)) {
    if (std::equal(actual, actual + count, golden)) return;
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
template bool accepts<double>(double, double, const Tolerance&);
template bool accepts<long double>(long double, long double, const Tolerance&);

}  // namespace btf
