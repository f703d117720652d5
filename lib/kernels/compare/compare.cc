#include "kernels/compare/compare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

// NumPy's formula, of finite numbers.
template <typename Real>
bool within_error(Real actual, Real golden, double rtol, double atol) {
  const Real error = std::abs(actual - golden);
  const Real magnitude = std::abs(golden);
  // With a golden of 0, an rtol of Inf allows nothing.
  const Real relative = magnitude == 0 ? 0 : static_cast<Real>(rtol) * magnitude;
  const Real allowed = static_cast<Real>(atol) + relative;
  // The difference of two large doubles may exceed the largest double.
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error) || std::isinf(allowed))
      return within_error<long double>(actual, golden, rtol, atol);
  return error <= allowed;
}

// Half a step of the coarser grid between them, plus the error of the arithmetic of scales.
template <typename Real>
double half_step(Real actual, Real golden, const Judge& judge, std::uint64_t number) {
  const auto a = static_cast<double>(actual);
  const auto g = static_cast<double>(golden);
  const double half =
      std::max(judge.actual.half_step(a, g, number), judge.golden.half_step(a, g, number));
  const bool scaled = judge.actual.codes || judge.golden.codes;
  return half + (scaled ? kScaleArithmetic * std::abs(g) : 0);
}

// The least atol that accepts finite numbers that differ; Inf if no double is enough.
template <typename Real>
double least_atol(Real error) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto atol = static_cast<double>(error);
  return static_cast<Real>(atol) < error ? std::nextafter(atol, kInf) : atol;
}

// The least rtol that does; Inf if golden is 0. It is a step or two from the quotient, or many if
// products are subnormal. Non-negative doubles have the order of their bits.
template <typename Real>
double least_rtol(Real actual, Real golden) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto enough = [&](double rtol) { return within_error(actual, golden, rtol, 0); };
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

template <typename Real>
void score_finite(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                  CompareScore& score) {
  if constexpr (std::is_same_v<Real, long double>)
    if (compares_as_double(actual, golden))
      return score_finite(static_cast<double>(actual), static_cast<double>(golden), count, judge,
                          score);
  const Real error = std::abs(actual - golden);
  if (error == 0) return;
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error)) return score_finite<long double>(actual, golden, count, judge, score);
  const PairError errors = error_of(actual, golden);
  score.max_ulp = std::max(score.max_ulp, steps_between(actual, golden, judge.grid));
  score.least_atol = std::max(score.least_atol, least_atol(error));
  if (!within_error(actual, golden, score.least_rtol, 0))
    score.least_rtol = least_rtol(actual, golden);
  score.max_abs = std::max(score.max_abs, errors.abs);
  score.max_rel = std::max(score.max_rel, errors.rel);
  if (accepts(actual, golden, judge)) return;
  score.mismatched += count;
}

template <typename Real>
void score_special(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                   CompareScore& score) {
  score.special += count;
  if (std::isnan(actual) && std::isnan(golden)) score.nan.both += count;
  if (std::isnan(actual) && !std::isnan(golden)) score.nan.actual += count;
  if (!std::isnan(actual) && std::isnan(golden)) score.nan.golden += count;
  if (std::isinf(actual) && std::isinf(golden))
    (actual == golden ? score.inf.both : score.inf.opposite) += count;
  if (std::isinf(actual) && !std::isinf(golden)) score.inf.actual += count;
  if (!std::isinf(actual) && std::isinf(golden)) score.inf.golden += count;
  if (accepts(actual, golden, judge)) return;
  score.mismatched += count;
  score.tolerable = false;
}

template <typename Real>
void score_pair(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                CompareScore& score) {
  if (std::isfinite(actual) && std::isfinite(golden))
    score_finite(actual, golden, count, judge, score);
  else
    score_special(actual, golden, count, judge, score);
}

}  // namespace

Judge judge_of(const Tolerance& effective, DType actual, DType golden) {
  return {.rtol = effective.rtol.value_or(0),
          .atol = effective.atol.value_or(0),
          .by_error = effective.by_error(),
          .ulp = effective.ulp.value_or(UINT64_MAX),
          .equal_nan = effective.equal_nan,
          .grid = step_grid(actual, golden),
          .half_step = effective.half_step,
          .actual = {actual},
          .golden = {golden}};
}

void CompareScore::add(const CompareScore& other) {
  compared += other.compared;
  mismatched += other.mismatched;
  special += other.special;
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  max_ulp = std::max(max_ulp, other.max_ulp);
  least_atol = std::max(least_atol, other.least_atol);
  least_rtol = std::max(least_rtol, other.least_rtol);
  nan.add(other.nan);
  inf.add(other.inf);
  tolerable = tolerable && other.tolerable;
}

template <typename Real>
bool accepts(Real actual, Real golden, const Judge& judge, std::uint64_t number) {
  if (actual == golden) return true;
  if constexpr (std::is_same_v<Real, long double>)
    if (compares_as_double(actual, golden))
      return accepts(static_cast<double>(actual), static_cast<double>(golden), judge, number);
  if (std::isnan(actual) && std::isnan(golden)) return judge.equal_nan;
  if (!std::isfinite(actual) || !std::isfinite(golden)) return false;
  if (judge.by_error && !within_error(actual, golden, judge.rtol, judge.atol) &&
      !(judge.half_step && std::abs(actual - golden) <= half_step(actual, golden, judge, number)))
    return false;
  return judge.ulp == UINT64_MAX || steps_between(actual, golden, judge.grid) <= judge.ulp;
}

double allowed_error(double actual, double golden, const Judge& judge, std::uint64_t number) {
  if (!judge.by_error) return std::numeric_limits<double>::infinity();
  const double allowed = judge.atol + judge.rtol * std::abs(golden);
  return judge.half_step ? std::max(allowed, half_step(actual, golden, judge, number)) : allowed;
}

template <typename Real>
PairError error_of(Real actual, Real golden) {
  if constexpr (std::is_same_v<Real, long double>)
    if (compares_as_double(actual, golden))
      return error_of(static_cast<double>(actual), static_cast<double>(golden));
  const Real error = std::abs(actual - golden);
  if constexpr (std::is_same_v<Real, double>)
    if (std::isinf(error)) return error_of<long double>(actual, golden);
  if (error == 0) return {};
  return {static_cast<double>(error), static_cast<double>(error / std::abs(golden))};
}

namespace {

// Raises the least rtol to one that accepts all pairs; `relative` is the largest quotient.
template <typename Real>
void score_least_rtol(const Real* actual, const Real* golden, std::uint64_t count, double relative,
                      CompareScore& score) {
  if (std::isinf(relative)) score.least_rtol = relative;
  if (std::isinf(score.least_rtol)) return;
  const auto raise = [&](const double& bar) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto a = static_cast<double>(actual[i]);
      const auto g = static_cast<double>(golden[i]);
      const double error = std::abs(a - g);
      if (error >= bar * std::abs(g) && error > 0 && !within_error(a, g, score.least_rtol, 0))
        score.least_rtol = least_rtol(a, g);
    }
  };
  // The pairs with the largest quotients first: few others need more.
  raise(relative * (1 - 0x1p-50));
  raise(score.least_rtol);
}

// Scores a run of finite numbers by its extremes. Returns false if exact arithmetic must decide.
template <typename Real>
bool score_extremes(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                    CompareScore& score) {
  const RunExtremes run = score_runs<Real>().extremes(actual, golden, count, judge);
  if (!run.clear) return false;
  score.mismatched += run.refused;
  score.max_abs = std::max(score.max_abs, run.error);
  score.least_atol = std::max(score.least_atol, run.error);
  score.max_ulp = std::max(score.max_ulp, run.steps);
  score.max_rel = std::max(score.max_rel, run.relative);
  score_least_rtol(actual, golden, count, run.relative, score);
  return true;
}

template <typename Real>
void score_numbers(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                   CompareScore& score) {
  if (score_extremes(actual, golden, count, judge, score)) return;
  for (std::uint64_t i = 0; i < count; ++i)
    score_finite(static_cast<double>(actual[i]), static_cast<double>(golden[i]), 1, judge, score);
}

// Returns true if that was all that had to be done.
template <typename Real>
bool score_quiet(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                 CompareScore& score) {
  std::uint64_t refused = 0;
  if (!score_runs<Real>().no_new_max(actual, golden, count, judge, score, refused)) return false;
  score.mismatched += refused;
  return true;
}

constexpr std::uint64_t kScoreRun = 1024;

// Pairs with NaN or Inf are scored one by one, the others in runs.
template <typename Real>
void score_mixed(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                 CompareScore& score) {
  std::array<Real, kScoreRun> actual_numbers;
  std::array<Real, kScoreRun> golden_numbers;
  std::uint64_t numbers = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    actual_numbers[numbers] = actual[i];
    golden_numbers[numbers] = golden[i];
    const bool finite = std::isfinite(actual[i]) && std::isfinite(golden[i]);
    numbers += finite ? 1U : 0U;
    if (!finite)
      score_special(static_cast<double>(actual[i]), static_cast<double>(golden[i]), 1, judge,
                    score);
  }
  if (numbers < count &&
      score_quiet(actual_numbers.data(), golden_numbers.data(), numbers, judge, score))
    return;
  score_numbers(actual_numbers.data(), golden_numbers.data(), numbers, judge, score);
}

}  // namespace

template <typename Real>
void compare_run(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                 CompareScore& score) {
  score.compared += count;
  for (std::uint64_t at = 0; at < count; at += kScoreRun) {
    const std::uint64_t n = std::min(kScoreRun, count - at);
    if (!score_quiet(actual + at, golden + at, n, judge, score))
      score_mixed(actual + at, golden + at, n, judge, score);
  }
}

template <>
void compare_run(const long double* actual, const long double* golden, std::uint64_t count,
                 const Judge& judge, CompareScore& score) {
  std::array<double, kScoreRun> actual_doubles;
  std::array<double, kScoreRun> golden_doubles;
  for (std::uint64_t at = 0; at < count; at += kScoreRun) {
    const std::uint64_t n = std::min(kScoreRun, count - at);
    if (to_doubles(actual + at, golden + at, n, actual_doubles.data(), golden_doubles.data())) {
      compare_run(actual_doubles.data(), golden_doubles.data(), n, judge, score);
      continue;
    }
    score.compared += n;
    for (std::uint64_t i = at; i < at + n; ++i) score_pair(actual[i], golden[i], 1, judge, score);
  }
}

template <typename Real>
void compare_many(Real actual, Real golden, std::uint64_t count, const Judge& judge,
                  CompareScore& score) {
  if (count == 0) return;
  score.compared += count;
  score_pair(actual, golden, count, judge, score);
}

template void compare_run<float>(const float*, const float*, std::uint64_t, const Judge&,
                                 CompareScore&);
template void compare_run<double>(const double*, const double*, std::uint64_t, const Judge&,
                                  CompareScore&);
template void compare_many<double>(double, double, std::uint64_t, const Judge&, CompareScore&);
template void compare_many<long double>(long double, long double, std::uint64_t, const Judge&,
                                        CompareScore&);
template PairError error_of<double>(double, double);
template PairError error_of<long double>(long double, long double);
template bool accepts<double>(double, double, const Judge&, std::uint64_t);
template bool accepts<long double>(long double, long double, const Judge&, std::uint64_t);

}  // namespace btf
