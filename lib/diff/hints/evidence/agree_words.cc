#include "diff/hints/evidence/agree_words.h"

#include <optional>

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

}  // namespace

template <typename Real>
PairBits agreeing(const Real* actual, const Real* golden, std::uint64_t count,
                  const Agreement& agreement) {
  PairBits yes;
  if constexpr (std::is_same_v<Real, double>) {
    if (const auto limits = agree_limits(agreement)) {
      PairBits ask;
      agree_run(actual, golden, count, *limits, {yes.words.data(), ask.words.data()});
      ask.for_each([&](std::uint64_t i) {
        if (agrees(actual[i], golden[i], agreement)) yes.set(i);
      });
      return yes;
    }
  }
  for (std::uint64_t i = 0; i < count; ++i)
    if (agrees(actual[i], golden[i], agreement)) yes.set(i);
  return yes;
}

template <typename Real>
PairBits accepted_pairs(const Real* actual, const Real* golden, std::uint64_t count,
                        const Agreement& agreement) {
  PairBits yes;
  for (std::uint64_t i = 0; i < count; ++i)
    if (accepted(actual[i], golden[i], agreement)) yes.set(i);
  return yes;
}

template PairBits accepted_pairs(const double*, const double*, std::uint64_t, const Agreement&);
template PairBits accepted_pairs(const long double*, const long double*, std::uint64_t,
                                 const Agreement&);
template PairBits agreeing(const double*, const double*, std::uint64_t, const Agreement&);
template PairBits agreeing(const long double*, const long double*, std::uint64_t, const Agreement&);

}  // namespace btf::hints
