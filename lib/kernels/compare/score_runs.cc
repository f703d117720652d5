#include "kernels/compare/score_runs.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/score_runs.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "kernels/compare/pair_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

// Steps of one size.
template <typename Real, typename Step>
HWY_INLINE void for_each_distance(const Real* actual, const Real* golden, std::uint64_t count,
                                  double unit, Step&& step) {
  if (unit == 1)
    return for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
      step(hn::Abs(hn::Sub(hn::Round(a), hn::Round(g))));
    });
  const RealVec units = hn::Set(ScoreReal(), unit);
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    step(hn::Abs(hn::Sub(hn::Round(hn::Div(a, units)), hn::Round(hn::Div(g, units)))));
  });
}

// Floats on their own grid: their bits are their places, of 32 bits. step(distance of both).
using Shorter = hn::ScalableTag<std::uint32_t>;
template <typename Step>
HWY_INLINE void for_each_float_distance(const float* actual, const float* golden,
                                        std::uint64_t count, Step&& step) {
  constexpr std::size_t kWidth = hn::MaxLanes(Shorter());
  const hn::RebindToSigned<Shorter> s;
  const auto place = [&](const float* from) HWY_ATTR {
    const auto bits = hn::BitCast(s, hn::LoadU(hn::ScalableTag<float>(), from));
    const auto size = hn::And(bits, hn::Set(s, 0x7fffffff));
    const auto negative = hn::BroadcastSignBit(bits);
    return hn::Sub(hn::Xor(size, negative), negative);
  };
  const auto pair = [&](const float* a, const float* g) HWY_ATTR {
    const auto left = place(a);
    const auto right = place(g);
    step(hn::BitCast(Shorter(), hn::Sub(hn::Max(left, right), hn::Min(left, right))));
  };
  std::uint64_t at = 0;
  for (; at + kWidth <= count; at += kWidth) pair(actual + at, golden + at);
  if (at == count) return;
  std::array<float, kWidth> last_actual{};
  std::array<float, kWidth> last_golden{};
  std::copy_n(actual + at, count - at, last_actual.begin());
  std::copy_n(golden + at, count - at, last_golden.begin());
  pair(last_actual.data(), last_golden.data());
}

template <typename Real>
bool is_own_grid(const StepGrid& grid) {
  return std::is_same_v<Real, float> && !grid.integer && grid.precision == 24 &&
         grid.least_exponent == -126;
}

// Is any pair more than `most` steps apart?
template <typename Real>
HWY_INLINE bool any_beyond(const Real* actual, const Real* golden, std::uint64_t count,
                           const StepGrid& grid, std::uint64_t most) {
  if (grid.integer) {
    const RealVec limit =
        hn::Set(ScoreReal(), most == UINT64_MAX ? std::numeric_limits<double>::infinity()
                                                : static_cast<double>(most));
    Count over;
    for_each_distance(actual, golden, count, grid.unit,
                      [&](RealVec distance) HWY_ATTR { over.add(hn::Gt(distance, limit)); });
    return over.any();
  }
  if constexpr (std::is_same_v<Real, float>)
    if (is_own_grid<Real>(grid)) {
      auto largest = hn::Zero(Shorter());
      for_each_float_distance(actual, golden, count, [&](auto distance) HWY_ATTR {
        largest = hn::Max(largest, distance);
      });
      return largest_lane(Shorter(), largest) > most;
    }
  const Line line(grid);
  const PlaceVec limit = hn::Set(ScoreWord(), most);
  Count over;
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    over.add(hn::Gt(line.distance(a, g), limit));
  });
  return over.any();
}

template <typename Real>
bool quiet_run(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
               const CompareScore& score, std::uint64_t& refused) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const ScoreReal d;
  const std::uint64_t most = std::min(score.max_ulp, judge.ulp);
  // Limits between two doubles are left to exact arithmetic.
  if (judge.grid.integer && most > 1ULL << 53 && most != UINT64_MAX) return false;
  const RealVec atol = hn::Set(d, judge.by_error ? judge.atol : kInf);
  const RealVec rtol = hn::Set(d, judge.rtol);
  const RealVec max_abs = hn::Set(d, std::min(score.max_abs, std::numeric_limits<double>::max()));
  // A little less than both records: no division, and no rounding that hides one.
  const RealVec relative = hn::Set(d, std::min(score.max_rel, score.least_rtol) * (1 - 0x1p-50));
  Count over;
  Count record;
  Count near;
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    const RealVec error = hn::Abs(hn::Sub(a, g));
    const RealVec size = hn::Abs(g);
    const RealVec allowed = hn::Add(atol, hn::Mul(rtol, size));
    over.add(hn::Gt(error, allowed));
    // NaN and Inf are no less than anything; Inf times 0 is for exact arithmetic.
    record.add(hn::Not(hn::And(hn::Le(error, max_abs), hn::Eq(allowed, allowed))));
    // A subnormal product may be rounded up to the error.
    near.add(hn::And(hn::Ge(error, hn::Mul(relative, size)), hn::Gt(error, hn::Zero(d))));
  });
  if (record.any()) return false;
  if (near.any()) {
    const RealVec max_rel = hn::Set(d, score.max_rel);
    const RealVec least_rtol = hn::Set(d, score.least_rtol);
    for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
      const RealVec error = hn::Abs(hn::Sub(a, g));
      const RealVec size = hn::Abs(g);
      record.add(
          hn::Or(hn::Gt(hn::Div(error, size), max_rel), hn::Gt(error, hn::Mul(least_rtol, size))));
    });
    if (record.any()) return false;
  }
  refused = over.sum();
  return !any_beyond(actual, golden, count, judge.grid, most);
}

template <typename Real>
RunExtremes extremes_of(const Real* actual, const Real* golden, std::uint64_t count,
                        const Judge& judge) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kMostExact = 0x1p53;
  const ScoreReal d;
  const RealVec atol = hn::Set(d, judge.by_error ? judge.atol : kInf);
  const RealVec rtol = hn::Set(d, judge.rtol);
  const RealVec finite = hn::Set(d, std::numeric_limits<double>::max());
  const RealVec ulp = hn::Set(d, judge.ulp == UINT64_MAX ? kInf : static_cast<double>(judge.ulp));
  const PlaceVec most = hn::Set(ScoreWord(), judge.ulp);
  const bool integer = judge.grid.integer;
  const RealVec unit = hn::Set(d, judge.grid.unit);
  const Line line(judge.grid);
  RealVec largest = hn::Zero(d);
  RealVec relative = hn::Zero(d);
  RealVec steps = hn::Zero(d);
  PlaceVec places = hn::Zero(ScoreWord());
  Count unclear;
  Count over;
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    const RealVec error = hn::Abs(hn::Sub(a, g));
    const RealVec size = hn::Abs(g);
    const RealVec allowed = hn::Add(atol, hn::Mul(rtol, size));
    unclear.add(hn::Not(hn::And(hn::Le(error, finite), hn::Eq(allowed, allowed))));
    largest = hn::Max(largest, error);
    // Where there is no error, 0 / 0 may be NaN.
    const RealVec quotient = hn::IfThenElseZero(hn::Gt(error, hn::Zero(d)), hn::Div(error, size));
    relative = hn::Max(relative, quotient);
    RealMask refused = hn::Gt(error, allowed);
    if (integer) {
      const RealVec distance =
          hn::Abs(hn::Sub(hn::Round(hn::Div(a, unit)), hn::Round(hn::Div(g, unit))));
      steps = hn::Max(steps, distance);
      refused = hn::Or(refused, hn::Gt(distance, ulp));
    } else {
      const PlaceVec distance = line.distance(a, g);
      places = hn::Max(places, distance);
      refused = hn::Or(refused, hn::RebindMask(d, hn::Gt(distance, most)));
    }
    over.add(refused);
  });
  const double furthest = largest_lane(d, steps);
  return {.error = largest_lane(d, largest),
          .relative = largest_lane(d, relative),
          .steps = integer ? static_cast<std::uint64_t>(std::min(furthest, kMostExact))
                           : largest_lane(ScoreWord(), places),
          .refused = over.sum(),
          .clear = !unclear.any() && furthest < kMostExact};
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

template <typename Real>
constexpr auto kScoreRuns = [] {
  using Runs = ScoreRuns<Real>;
  constexpr std::array<decltype(Runs::quiet), kCpuLevels> kQuiet BTF_SIMD_TABLE(quiet_run<Real>);
  constexpr std::array<decltype(Runs::extremes), kCpuLevels> kExtremes BTF_SIMD_TABLE(
      extremes_of<Real>);
  std::array<Runs, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kQuiet[level], kExtremes[level]};
  return runs;
}();

}  // namespace

template <typename Real>
const ScoreRuns<Real>& score_runs() {
  return kScoreRuns<Real>[cpu_level()];
}

template const ScoreRuns<float>& score_runs<float>();
template const ScoreRuns<double>& score_runs<double>();

}  // namespace btf
#endif
