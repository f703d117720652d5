#include "diff/hints/evidence/agree_words.h"

#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/stats/agree_runs.h"

namespace btf::hints {
namespace {

// Nothing: it is more than limits can say.
std::optional<AgreeLimits::Tolerance> tolerance_of(const Judge& judge) {
  if (!judge.by_error || judge.half_step || judge.ulp != UINT64_MAX || !std::isfinite(judge.rtol) ||
      !std::isfinite(judge.atol))
    return std::nullopt;
  return AgreeLimits::Tolerance{judge.rtol, judge.atol};
}

std::optional<AgreeLimits> agree_limits(const Agreement& agreement) {
  const auto own = tolerance_of(agreement.judge);
  const auto close = agreement.close ? tolerance_of(*agreement.close) : own;
  if (!own || !close) return std::nullopt;
  return AgreeLimits{*own, *close, agreement.grid};
}

// On the grid of doubles only equal numbers are 0 steps apart.
std::optional<AgreeLimits> accept_limits(const Agreement& agreement) {
  constexpr int kPrecision = std::numeric_limits<double>::digits;
  constexpr int kLeastExponent = std::numeric_limits<double>::min_exponent - 1;
  const auto own = tolerance_of(agreement.judge);
  if (!own) return std::nullopt;
  return AgreeLimits{*own, *own, StepGrid::floats(kPrecision, kLeastExponent)};
}

// yes(i) for every pair of doubles that limits do not tell of.
template <typename Yes>
PairBits within_limits(const double* actual, const double* golden, std::uint64_t count,
                       const AgreeLimits& limits, const Yes& yes) {
  PairBits all;
  PairBits ask;
  agree_run(actual, golden, count, limits, {all.words.data(), ask.words.data()});
  ask.for_each([&](std::uint64_t i) {
    if (yes(i)) all.set(i);
  });
  return all;
}

template <typename Yes>
PairBits one_by_one(std::uint64_t count, const Yes& yes) {
  PairBits all;
  for (std::uint64_t i = 0; i < count; ++i)
    if (yes(i)) all.set(i);
  return all;
}

}  // namespace

template <typename Real>
PairBits agreeing(const Real* actual, const Real* golden, std::uint64_t count,
                  const Agreement& agreement) {
  const auto yes = [&](std::uint64_t i) { return agrees(actual[i], golden[i], agreement); };
  if constexpr (std::is_same_v<Real, double>)
    if (const auto limits = agree_limits(agreement))
      return within_limits(actual, golden, count, *limits, yes);
  return one_by_one(count, yes);
}

template <typename Real>
PairBits accepted_pairs(const Real* actual, const Real* golden, std::uint64_t count,
                        const Agreement& agreement) {
  const auto yes = [&](std::uint64_t i) { return accepted(actual[i], golden[i], agreement); };
  if constexpr (std::is_same_v<Real, double>)
    if (const auto limits = accept_limits(agreement))
      return within_limits(actual, golden, count, *limits, yes);
  return one_by_one(count, yes);
}

template PairBits accepted_pairs(const double*, const double*, std::uint64_t, const Agreement&);
template PairBits accepted_pairs(const long double*, const long double*, std::uint64_t,
                                 const Agreement&);
template PairBits agreeing(const double*, const double*, std::uint64_t, const Agreement&);
template PairBits agreeing(const long double*, const long double*, std::uint64_t, const Agreement&);

}  // namespace btf::hints
