#include "diff/hints/evidence/agreements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "btf/try.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/score/collectors.h"
#include "diff/score/compare_walk.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/number/widen.h"
#include "kernels/stats/stats.h"

namespace btf::hints {
namespace {

// A pair in which one side's value is replaced by what the hypothesis predicts.
struct Trial {
  long double predicted = 0;
  long double stays = 0;   // the other side's value
  long double before = 0;  // the value that `predicted` replaces
  TransformedSide side{};

  bool explained(const Agreement& agreement) const {
    return side == TransformedSide::actual ? sampled_agree(predicted, stays, agreement)
                                           : sampled_agree(stays, predicted, agreement);
  }
  bool agreed_before(const Agreement& agreement) const {
    return side == TransformedSide::actual ? sampled_agree(before, stays, agreement)
                                           : sampled_agree(stays, before, agreement);
  }
  // Whether the prediction differs from the value that it replaces.
  bool telling(const Agreement& agreement) const {
    return side == TransformedSide::actual ? !sampled_agree(before, predicted, agreement)
                                           : !sampled_agree(predicted, before, agreement);
  }
};

Trial trial_of(TransformedSide side, const Point& point, long double predicted) {
  const bool actual = side == TransformedSide::actual;
  return {predicted, actual ? point.golden : point.actual, actual ? point.actual : point.golden,
          side};
}

bool same_number(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool few(std::size_t failures, std::size_t of) { return failures * 50 <= of; }

// How many bits of surprise it is that the other side's value agrees with the prediction, given how
// many of the predictions from anywhere agree with that value.
double surprise(const SearchContext& context, const Trial& trial, const Predictions& anywhere) {
  std::size_t all = 0;
  std::size_t like = 0;
  Trial random = trial;
  for (const std::optional<long double>& predicted : anywhere) {
    if (!predicted) continue;
    random.predicted = *predicted;
    ++all;
    if (random.explained(context.agreement)) ++like;
  }
  if (all == 0) return 0;
  return std::log2(static_cast<double>(all)) - std::log2(std::max(static_cast<double>(like), 0.5));
}

}  // namespace

bool promising(const SearchContext& context, TransformedSide side,
               std::span<const std::size_t> which, const Predictions& predicted) {
  std::size_t tried = 0;
  std::size_t failures = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!predicted[i]) continue;
    ++tried;
    const Trial trial = trial_of(side, context.mismatches[which[i]], *predicted[i]);
    if (!trial.explained(context.agreement)) ++failures;
  }
  return tried * 4 >= which.size() && failures <= (tried >= 8 ? 1U : 0U);
}

bool hopeless(const SearchContext& context, TransformedSide side,
              std::span<const std::size_t> which, const Predictions& predicted) {
  for (std::size_t i = 0; i < which.size(); ++i)
    if (!predicted[i] ||
        trial_of(side, context.mismatches[which[i]], *predicted[i]).explained(context.agreement))
      return false;
  return which.size() > 1;
}

namespace {

// The surprise that all of `explained` agree.
double total_surprise(const SearchContext& context, const std::vector<Trial>& explained,
                      const Predictions& anywhere) {
  double bits = 0;
  const Trial* last = nullptr;
  for (const Trial& trial : explained) {
    // The same pair of numbers repeated, as in a constant block, is evidence only once.
    if (last != nullptr && same_number(last->predicted, trial.predicted) &&
        same_number(last->stays, trial.stays) && same_number(last->before, trial.before))
      continue;
    bits += surprise(context, trial, anywhere);
    last = &trial;
  }
  return bits;
}

// Whether elements from anywhere agree with their predictions, and the two sides really differ
// wherever the hypothesis changes something.
bool right_elsewhere(const SearchContext& context, TransformedSide side,
                     const Predictions& anywhere) {
  const Agreement& agreement = context.agreement;
  std::size_t checked = 0;
  std::size_t wrong = 0;
  std::size_t confirmed = 0;
  std::size_t undecided = 0;
  for (std::size_t i = 0; i < anywhere.size(); ++i) {
    if (!anywhere[i]) continue;
    ++checked;
    const Trial trial = trial_of(side, context.anywhere[i], *anywhere[i]);
    const bool explained = trial.explained(agreement);
    if (!explained) ++wrong;
    if (!explained || !trial.telling(agreement)) continue;
    // Within the tolerance with and without the hypothesis: no evidence.
    ++(trial.agreed_before(agreement) ? undecided : confirmed);
  }
  return few(wrong, checked + 50) && undecided <= confirmed;
}

}  // namespace

bool convincing(const SearchContext& context, TransformedSide side, const Predictions& mismatches,
                const Predictions& anywhere, double hypotheses) {
  std::size_t tried = 0;
  std::size_t telling = 0;
  std::vector<Trial> explained;
  for (std::size_t i = 0; i < mismatches.size(); ++i) {
    if (!mismatches[i]) continue;
    ++tried;
    const Trial trial = trial_of(side, context.mismatches[i], *mismatches[i]);
    if (!trial.explained(context.agreement)) continue;
    explained.push_back(trial);
    if (trial.telling(context.agreement)) ++telling;
  }
  return 5 * tried >= 2 * mismatches.size() && few(tried - explained.size(), tried) &&
         10 * telling >= 9 * explained.size() && right_elsewhere(context, side, anywhere) &&
         total_surprise(context, explained, anywhere) >=
             kNeededBits + std::log2(std::max(hypotheses, 1.0));
}

double log2_choices(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

namespace {

// Passes on the mismatches that `agreement` does not accept either.
class ResidueCollector final : public PairCollector {
 public:
  explicit ResidueCollector(const Agreement& agreement) : agreement_(agreement) {}

  void prepare(unsigned workers) override {
    found_.prepare(workers);
    refused_.resize(workers);
    mismatched_.assign(workers, 0);
  }
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) override {
    filter(worker, slab, run);
  }
  void take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) override {
    filter(worker, slab, run);
  }

  Residue finish() const {
    Residue residue{.sample = found_.sample()};
    for (const std::uint64_t count : mismatched_) residue.mismatched += count;
    return residue;
  }

 private:
  template <typename Real>
  void filter(unsigned worker, std::uint64_t slab, const JudgedRun<Real>& run) {
    if (run.summary.refused == 0) return;
    // All pairs of the run agree.
    if (same_steps_everywhere(run.pairs, agreement_.judge.grid)) return;
    JudgedRun<Real> left = run;
    left.refused = refused_[worker].data();
    left.summary.refused = 0;
    for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
      const bool refused =
          run.refused[i] != 0 && !agrees(run.pairs.actual[i], run.pairs.golden[i], agreement_);
      refused_[worker][i] = refused ? run.refused[i] : 0;
      left.summary.refused += refused ? 1 : 0;
    }
    if (left.summary.refused == 0) return;
    mismatched_[worker] += left.summary.refused * (run.pairs.alike ? run.pairs.count : 1);
    found_.take(worker, slab, left);
  }

  const Agreement& agreement_;
  MismatchCollector found_{0, kHintSample};
  std::vector<std::array<double, kPairRun>> refused_;  // per worker
  std::vector<std::uint64_t> mismatched_;
};

}  // namespace

Result<Residue> residue_of(const HintInput& input, const Agreement& agreement) {
  const PairRows pairs(input.actual, input.golden, input.execution);
  ResidueCollector collector(agreement);
  PairCollector* const collectors[] = {&collector};
  BTF_TRY(collect(pairs, input.judge, collectors));
  return collector.finish();
}

namespace {

// Unset if AgreeLimits cannot express the judge.
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
  constexpr int kMinExponent = std::numeric_limits<double>::min_exponent - 1;
  const auto own = tolerance_of(agreement.judge);
  if (!own) return std::nullopt;
  return AgreeLimits{*own, *own, StepGrid::floats(kPrecision, kMinExponent)};
}

// Calls yes(i) for every pair of doubles that the limits do not decide.
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

namespace {

// "float16's rounding", with the dtype whose steps count.
std::string lenience(const StepGrid& grid, DType actual, DType golden, const std::string& what) {
  const auto owner = owner_of(grid, actual, golden);
  return (owner ? name_of(*owner) + "'s " : "") + what;
}

// Adds the tolerance of --close: two computations of the same thing differ by that much, whatever
// tolerance the user gave.
void add_close(const HintInput& input, Agreement base, const Judge& close, const std::string& name,
               std::vector<Agreement>& all) {
  const bool wider = close.rtol > input.judge.rtol || close.atol > input.judge.atol ||
                     (close.half_step && !input.judge.half_step);
  if ((close.rtol == 0 && close.atol == 0) || !wider) return;
  all.push_back(std::move(base));
  all.back().close = close;
  all.back().lenience = name;
}

// Adds agreement by the grid that the bits of a side show.
void add_inferred(const HintInput& input, const Sample& sample, std::vector<Agreement>& all) {
  const auto shown = inferred_grid(input, sample);
  if (!shown) return;
  Agreement rounded = all.back();
  rounded.grid = shown->grid;
  rounded.half_step_of_actual = shown->half_step_of_actual;
  rounded.half_step_of_golden = shown->half_step_of_golden;
  if (const double half = shown->half_step_of_actual + shown->half_step_of_golden; half > 0) {
    constexpr double kBlur = 0x1p-20;  // float32 does not hold multiples exactly
    rounded.close = Judge{.rtol = kBlur, .atol = half, .grid = input.judge.grid};
  }
  rounded.lenience = shown->dtype ? shown->name + "'s rounding" : "rounding to " + shown->name;
  all.push_back(rounded);
  if (!shown->dtype) return;
  const Grid grid{.dtype = *shown->dtype};
  const Judge close = judge_of(effective({.close = true}, grid, grid), grid.dtype, grid.dtype);
  add_close(input, rounded, close, shown->name + "'s tolerance", all);
}

}  // namespace

Judge close_judge(const HintInput& input) {
  return judge_of(effective({.close = true}, input.judge.actual, input.judge.golden), input.actual,
                  input.golden);
}

Agreement strict_agreement(const Judge& judge, DType actual, DType golden) {
  Agreement strict{.judge = judge,
                   .grid = judge.grid,
                   .narrow = fits_double(actual) && fits_double(golden),
                   .lenience = lenience(judge.grid, actual, golden, "rounding")};
  strict.judge.equal_nan = true;
  return strict;
}

bool uses_inferred_grid(const Agreement& agreement) {
  const StepGrid& own = agreement.judge.grid;
  return agreement.half_step_of_actual + agreement.half_step_of_golden > 0 ||
         agreement.grid.precision != own.precision || agreement.grid.integer != own.integer ||
         agreement.grid.least_exponent != own.least_exponent;
}

std::vector<Agreement> agreements(const HintInput& input, const Sample& sample) {
  const DType actual = input.actual.dtype();
  const DType golden = input.golden.dtype();
  std::vector<Agreement> all{strict_agreement(input.judge, actual, golden)};
  add_close(input, all.front(), close_judge(input),
            lenience(input.judge.grid, actual, golden, "tolerance"), all);
  add_inferred(input, sample, all);
  return all;
}

}  // namespace btf::hints
