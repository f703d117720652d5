#include <algorithm>
#include <array>
#include <limits>

#include "kernels/compare/compare_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/judge_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/compare/pair_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

HWY_INLINE double smallest_lane(RealVec lanes) {
  double least = std::numeric_limits<double>::infinity();
  for_each_lane(ScoreReal(), lanes, [&](double lane) { least = std::min(least, lane); });
  return least;
}

// Pairs of zeros that pad the last vector.
HWY_INLINE std::uint64_t behind_last(std::uint64_t count) {
  return (kScoreWidth - count % kScoreWidth) % kScoreWidth;
}

// Computes errors of whole vectors of pairs, and which pairs are refused by their error or steps.
class JudgedVectors {
 public:
  HWY_INLINE explicit JudgedVectors(const Judge& judge)
      : line_(judge.grid),
        atol_(hn::Set(ScoreReal(), judge.by_error ? judge.atol : kInf)),
        rtol_(hn::Set(ScoreReal(), judge.rtol)),
        unit_(hn::Set(ScoreReal(), judge.grid.unit)),
        ulp_(hn::Set(ScoreReal(), static_cast<double>(judge.ulp))),
        most_(hn::Set(ScoreWord(), judge.ulp)),
        unclear_(hn::Zero(ScoreReal())),
        largest_(unclear_),
        least_(hn::Set(ScoreReal(), kInf)),
        least_golden_(least_) {}

  template <bool kBySteps, bool kInteger>
  HWY_INLINE void judge(RealVec a, RealVec g, double* error, double* refused) {
    const ScoreReal d;
    const RealVec zero = hn::Zero(d);
    const RealVec infinity = hn::Set(d, kInf);
    // x - x is 0, or NaN for NaN and Inf.
    const RealVec distance = hn::Add(hn::Abs(hn::Sub(a, g)), hn::Add(hn::Sub(a, a), hn::Sub(g, g)));
    const RealVec size = hn::Abs(g);
    const RealVec allowed = hn::Add(atol_, hn::Mul(rtol_, size));
    RealMask over = hn::Gt(distance, allowed);
    if constexpr (kBySteps && kInteger)
      over = hn::Or(
          over, hn::Gt(hn::Abs(hn::Sub(hn::Round(hn::Div(a, unit_)), hn::Round(hn::Div(g, unit_)))),
                       ulp_));
    if constexpr (kBySteps && !kInteger)
      over = hn::Or(over, hn::RebindMask(d, hn::Gt(line_.distance(a, g), most_)));
    hn::StoreU(distance, d, error);
    hn::StoreU(hn::IfThenElseZero(over, distance), d, refused);
    over_.add(over);
    // NaN if a number is NaN, or a result exceeds the largest double.
    const RealVec sum = hn::Add(distance, allowed);
    unclear_ = hn::Add(unclear_, hn::Sub(sum, sum));
    const RealMask equal = hn::Eq(distance, zero);
    equal_.add(equal);
    largest_ = hn::Max(largest_, distance);
    least_ = hn::Min(least_, hn::IfThenElse(equal, infinity, distance));
    least_golden_ = hn::Min(least_golden_, size);
  }

  HWY_INLINE bool unclear() const { return !hn::AllTrue(ScoreReal(), hn::Eq(unclear_, unclear_)); }
  // Unless something was unclear.
  HWY_INLINE RunSummary summary() const {
    return {.largest_error = largest_lane(ScoreReal(), largest_),
            .least_error = smallest_lane(least_),
            .least_golden = smallest_lane(least_golden_),
            .equal = equal_.sum(),
            .refused = over_.sum()};
  }

 private:
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  Line line_;
  RealVec atol_, rtol_, unit_, ulp_;
  PlaceVec most_;
  Count over_, equal_;
  RealVec unclear_, largest_, least_, least_golden_;
};

// Judges again with the errors known, some of which are NaN, and sets `refused`.
RunSummary judge_each(const double* actual, const double* golden, std::uint64_t count,
                      const Judge& judge, const double* error, double* refused) {
  const ScoreReal d;
  const RealVec zero = hn::Zero(d);
  RealVec largest = zero;
  RealVec least = hn::Set(d, std::numeric_limits<double>::infinity());
  RealVec least_golden = least;
  Count special;
  Count equal;
  for_each_vector(error, golden, count, [&](RealVec e, RealVec g) HWY_ATTR {
    const RealVec size = hn::Abs(g);
    special.add(hn::Not(hn::Eq(e, e)));
    equal.add(hn::Eq(e, zero));
    largest = hn::IfThenElse(hn::Gt(e, largest), e, largest);
    least = hn::IfThenElse(hn::And(hn::Gt(e, zero), hn::Lt(e, least)), e, least);
    least_golden = hn::IfThenElse(hn::Lt(size, least_golden), size, least_golden);
  });
  RunSummary summary{.largest_error = largest_lane(d, largest),
                     .least_error = smallest_lane(least),
                     .least_golden = smallest_lane(least_golden),
                     .equal = equal.sum() - behind_last(count),
                     .special = special.sum()};
  for (std::uint64_t i = 0; i < count; ++i) {
    refused[i] = accepts(actual[i], golden[i], judge) ? 0 : error[i];
    summary.refused += refused[i] != 0 ? 1U : 0U;
  }
  return summary;
}

template <bool kBySteps, bool kInteger>
RunSummary judge_as(const double* actual, const double* golden, std::uint64_t count,
                    const Judge& judge, double* error, double* refused) {
  JudgedVectors pairs(judge);
  std::uint64_t at = 0;
  for (; at + kScoreWidth <= count; at += kScoreWidth)
    pairs.judge<kBySteps, kInteger>(widened(actual + at), widened(golden + at), error + at,
                                    refused + at);
  if (at < count) {
    std::array<double, kScoreWidth> a{}, g{}, e{}, r{};
    std::copy_n(actual + at, count - at, a.begin());
    std::copy_n(golden + at, count - at, g.begin());
    pairs.judge<kBySteps, kInteger>(widened(a.data()), widened(g.data()), e.data(), r.data());
    std::copy_n(e.begin(), count - at, error + at);
    std::copy_n(r.begin(), count - at, refused + at);
  }
  // If a limit is between two doubles, exact arithmetic decides.
  const bool exact = !kBySteps || !kInteger || judge.ulp <= 1ULL << 53;
  if (!exact || pairs.unclear()) return judge_each(actual, golden, count, judge, error, refused);
  RunSummary summary = pairs.summary();
  summary.equal -= behind_last(count);
  return summary;
}

RunSummary judge_run(const double* actual, const double* golden, std::uint64_t count,
                     const Judge& judge, double* error, double* refused) {
  const auto as = [&](auto by) { return by(actual, golden, count, judge, error, refused); };
  if (judge.ulp == UINT64_MAX) return as(judge_as<false, false>);
  return judge.grid.integer ? as(judge_as<true, true>) : as(judge_as<true, false>);
}

AtLeast count_at_least(const double* error, std::uint64_t count, const AtLeast::Limits& limits) {
  const ScoreReal d;
  static_assert(AtLeast::kLimits == 4);
  const RealVec first = hn::Set(d, limits[0]);
  const RealVec second = hn::Set(d, limits[1]);
  const RealVec third = hn::Set(d, limits[2]);
  const RealVec fourth = hn::Set(d, limits[3]);
  Count found[AtLeast::kLimits];
  std::uint64_t at = 0;
  for (; at + kScoreWidth <= count; at += kScoreWidth) {
    const RealVec e = widened(error + at);
    found[0].add(hn::Ge(e, first));
    found[1].add(hn::Ge(e, second));
    found[2].add(hn::Ge(e, third));
    found[3].add(hn::Ge(e, fourth));
  }
  AtLeast total;
  for (std::size_t i = 0; i < AtLeast::kLimits; ++i) {
    total.count[i] = found[i].sum();
    for (std::uint64_t j = at; j < count; ++j) total.count[i] += error[j] >= limits[i] ? 1U : 0U;
  }
  return total;
}

double largest_relative(const double* error, const double* golden, std::uint64_t count,
                        double bar) {
  const ScoreReal d;
  const RealVec zero = hn::Zero(d);
  const RealVec bars = hn::Set(d, bar * (1 - 0x1p-50));
  Count near;
  for_each_vector(error, golden, count, [&](RealVec e, RealVec g) HWY_ATTR {
    near.add(hn::And(hn::Gt(e, zero), hn::Not(hn::Lt(e, hn::Mul(bars, hn::Abs(g))))));
  });
  if (!near.any()) return 0;
  RealVec largest = zero;
  for_each_vector(error, golden, count, [&](RealVec e, RealVec g) HWY_ATTR {
    const RealVec relative = hn::Div(e, hn::Abs(g));
    largest = hn::IfThenElse(hn::Gt(relative, largest), relative, largest);
  });
  return largest_lane(d, largest);
}

bool same_steps(const double* actual, const double* golden, std::uint64_t count,
                const StepGrid& grid) {
  const ScoreReal d;
  const Line line(grid);
  Count apart;
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    const RealVec finite = hn::Add(hn::Sub(a, a), hn::Sub(g, g));
    const RealMask same = hn::RebindMask(d, hn::Eq(line.position(a), line.position(g)));
    apart.add(hn::Not(hn::And(same, hn::Eq(finite, finite))));
  });
  return !apart.any();
}

bool any_scattered(std::uint64_t first, std::uint64_t count, std::uint32_t least) {
  using Ranks = hn::ScalableTag<std::uint32_t>;
  constexpr std::size_t kWidth = hn::MaxLanes(Ranks());
  const Ranks d;
  std::uint64_t i = 0;
  // The upper half is the same for all numbers up to the next multiple of 2^32.
  if (first >> 32 == (first + count) >> 32) {
    const auto upper = hn::Set(d, static_cast<std::uint32_t>(first >> 32) * 0x9e3779b1U);
    auto largest = hn::Zero(d);
    // Incremented, since Highway computes Iota() in memory.
    auto numbers = hn::Iota(d, static_cast<std::uint32_t>(first));
    const auto step = hn::Set(d, static_cast<std::uint32_t>(kWidth));
    for (; i + kWidth <= count; i += kWidth, numbers = hn::Add(numbers, step)) {
      auto x = hn::Xor(numbers, upper);
      x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(d, 0x85ebca6bU));
      x = hn::Mul(hn::Xor(x, hn::ShiftRight<13>(x)), hn::Set(d, 0xc2b2ae35U));
      largest = hn::Max(largest, hn::Xor(x, hn::ShiftRight<16>(x)));
    }
    if (i > 0 && largest_lane(d, largest) >= least) return true;
  }
  for (; i < count; ++i)
    if (scattered(first + i) >= least) return true;
  return false;
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

constexpr std::array<decltype(JudgeRuns::judge), kCpuLevels> kJudge BTF_SIMD_TABLE(judge_run);
constexpr std::array<decltype(JudgeRuns::at_least), kCpuLevels> kAtLeast
    BTF_SIMD_TABLE(count_at_least);
constexpr std::array<decltype(JudgeRuns::largest_relative), kCpuLevels> kRelative
    BTF_SIMD_TABLE(largest_relative);
constexpr std::array<decltype(JudgeRuns::same_steps), kCpuLevels> kSameSteps
    BTF_SIMD_TABLE(same_steps);
constexpr std::array<decltype(JudgeRuns::any_scattered), kCpuLevels> kScattered
    BTF_SIMD_TABLE(any_scattered);

constexpr auto kJudgeRuns = [] {
  std::array<JudgeRuns, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kJudge[level], kAtLeast[level], kRelative[level], kSameSteps[level],
                   kScattered[level]};
  return runs;
}();

}  // namespace

const JudgeRuns& judge_runs() { return kJudgeRuns[cpu_level()]; }

}  // namespace btf
#endif
