#include "kernels/compare/score_runs.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/score_runs.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using ScoreReal = hn::ScalableTag<double>;
using ScoreWord = hn::RebindToUnsigned<ScoreReal>;
using RealVec = hn::Vec<ScoreReal>;
using PlaceVec = hn::Vec<ScoreWord>;
using RealMask = hn::Mask<ScoreReal>;

constexpr std::size_t kScoreWidth = hn::MaxLanes(ScoreReal());

HWY_INLINE RealVec widened(const double* from) { return hn::LoadU(ScoreReal(), from); }
HWY_INLINE RealVec widened(const float* from) {
  return hn::PromoteTo(ScoreReal(), hn::LoadU(hn::Rebind<float, ScoreReal>(), from));
}

// step(actual, golden) for whole vectors of doubles, then for the rest with pairs of zeros behind.
template <typename Real, typename Step>
HWY_INLINE void for_each_vector(const Real* actual, const Real* golden, std::uint64_t count,
                                Step&& step) {
  std::uint64_t at = 0;
  for (; at + kScoreWidth <= count; at += kScoreWidth)
    step(widened(actual + at), widened(golden + at));
  if (at == count) return;
  std::array<Real, kScoreWidth> last_actual{};
  std::array<Real, kScoreWidth> last_golden{};
  std::copy_n(actual + at, count - at, last_actual.begin());
  std::copy_n(golden + at, count - at, last_golden.begin());
  step(widened(last_actual.data()), widened(last_golden.data()));
}

template <typename D, typename Take>
HWY_INLINE void for_each_lane(D d, hn::Vec<D> lanes, Take&& take) {
  std::array<hn::TFromD<D>, hn::MaxLanes(D())> values;
  hn::StoreU(lanes, d, values.data());
  for (const auto value : values) take(value);
}

template <typename D>
HWY_INLINE auto largest_lane(D d, hn::Vec<D> lanes) {
  hn::TFromD<D> most = 0;
  for_each_lane(d, lanes, [&](auto value) { most = std::max(most, value); });
  return most;
}

// Masks counted, as numbers of all ones, and whether there was any.
struct Count {
  PlaceVec lanes;

  HWY_INLINE Count() : lanes(hn::Zero(ScoreWord())) {}
  HWY_INLINE void add(RealMask where) { add(hn::RebindMask(ScoreWord(), where)); }
  HWY_INLINE void add(hn::Mask<ScoreWord> where) {
    lanes = hn::Sub(lanes, hn::VecFromMask(ScoreWord(), where));
  }
  HWY_INLINE bool any() const {
    return !hn::AllTrue(ScoreWord(), hn::Eq(lanes, hn::Zero(ScoreWord())));
  }
  HWY_INLINE std::uint64_t sum() const {
    std::uint64_t total = 0;
    for_each_lane(ScoreWord(), lanes, [&](std::uint64_t lane) { total += lane; });
    return total;
  }
};

// As steps::position().
struct Line {
  PlaceVec half, odd, base, normal_from;
  RealVec small_scale;
  int drop;

  HWY_INLINE explicit Line(const StepGrid& grid)
      : half(hn::Set(ScoreWord(), grid.half)),
        odd(hn::Set(ScoreWord(), grid.odd)),
        base(hn::Set(ScoreWord(), grid.base)),
        normal_from(hn::Set(ScoreWord(), grid.normal_from)),
        small_scale(hn::Set(ScoreReal(), grid.small_scale)),
        drop(grid.drop) {}

  HWY_INLINE PlaceVec position(RealVec x) const {
    const ScoreWord d;
    const RealVec size = hn::Abs(x);
    const PlaceVec bits = hn::BitCast(d, size);
    const PlaceVec down = hn::Sub(hn::ShiftRightSame(bits, drop), base);
    const PlaceVec normal =
        hn::Sub(hn::ShiftRightSame(hn::Add(hn::Add(bits, half), hn::And(down, odd)), drop), base);
    const RealVec shifted = hn::Add(hn::Mul(size, small_scale), hn::Set(ScoreReal(), 0x1p52));
    const PlaceVec small =
        hn::And(hn::BitCast(d, shifted), hn::Set(d, std::uint64_t{0x000fffffffffffff}));
    // Both are less than 2^63.
    const hn::RebindToSigned<ScoreWord> s;
    const auto is_small = hn::Lt(hn::BitCast(s, bits), hn::BitCast(s, normal_from));
    const PlaceVec place = hn::IfThenElse(hn::RebindMask(d, is_small), small, normal);
    const PlaceVec negative = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(s, x)));
    return hn::Sub(hn::Xor(place, negative), negative);
  }

  HWY_INLINE PlaceVec distance(RealVec actual, RealVec golden) const {
    const hn::RebindToSigned<ScoreWord> s;
    const PlaceVec low = position(actual);
    const PlaceVec high = position(golden);
    const auto less =
        hn::RebindMask(ScoreWord(), hn::Lt(hn::BitCast(s, low), hn::BitCast(s, high)));
    return hn::IfThenElse(less, hn::Sub(high, low), hn::Sub(low, high));
  }
};

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
