#include <algorithm>
#include <array>
#include <limits>

#include "kernels/compare/compare_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/score_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "kernels/compare/no_new_max-inl.h"
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

using Shorter = hn::ScalableTag<std::uint32_t>;
using ShortReal = hn::RebindToFloat<Shorter>;
using ShortInt = hn::RebindToSigned<Shorter>;

// Returns true if floats are enough to compute positions on this grid: a float scales its steps
// to 1.
bool places_floats(const StepGrid& grid) {
  constexpr int kMin = std::numeric_limits<float>::min_exponent - 1;
  return !grid.integer && grid.precision < std::numeric_limits<float>::digits &&
         grid.least_exponent >= kMin &&
         (grid.least_exponent == kMin || grid.precision - 1 - grid.least_exponent <= -kMin);
}

// As Line, with 32 bits. If subnormal floats are those of the grid, their bits are even steps.
class FloatLine {
 public:
  HWY_INLINE explicit FloatLine(const StepGrid& grid)
      : drop_(std::numeric_limits<float>::digits - grid.precision) {
    const int exponent = grid.least_exponent - (std::numeric_limits<float>::min_exponent - 1);
    const auto above = static_cast<std::uint32_t>(exponent);
    const Shorter d;
    half_ = hn::Set(d, (std::uint32_t{1} << (drop_ - 1)) - 1);
    base_ = hn::Set(d, above << (grid.precision - 1));
    normal_from_ = hn::Set(ShortInt(), exponent == 0 ? 0 : (exponent + 1) << 23);
    small_scale_ = hn::Set(ShortReal(), exponent == 0 ? 0 : static_cast<float>(grid.small_scale));
  }

  HWY_INLINE hn::Vec<ShortInt> place(hn::Vec<ShortReal> x) const {
    const Shorter d;
    const ShortInt s;
    const auto size = hn::Abs(x);
    const auto bits = hn::BitCast(d, size);
    const auto down = hn::Sub(hn::ShiftRightSame(bits, drop_), base_);
    const auto odd = hn::And(down, hn::Set(d, 1U));
    const auto normal =
        hn::Sub(hn::ShiftRightSame(hn::Add(hn::Add(bits, half_), odd), drop_), base_);
    const auto shifted = hn::Add(hn::Mul(size, small_scale_), hn::Set(ShortReal(), 0x1p23F));
    const auto small = hn::And(hn::BitCast(d, shifted), hn::Set(d, 0x007fffffU));
    const auto is_small = hn::RebindMask(d, hn::Lt(hn::BitCast(s, bits), normal_from_));
    const auto place = hn::BitCast(s, hn::IfThenElse(is_small, small, normal));
    const auto negative = hn::BroadcastSignBit(hn::BitCast(s, x));
    return hn::Sub(hn::Xor(place, negative), negative);
  }

 private:
  int drop_;
  hn::Vec<Shorter> half_, base_;
  hn::Vec<ShortInt> normal_from_;
  hn::Vec<ShortReal> small_scale_;
};

// Floats on their own grid: their bits are their positions.
struct OwnLine {
  HWY_INLINE static hn::Vec<ShortInt> place(hn::Vec<ShortReal> x) {
    const auto size = hn::BitCast(ShortInt(), hn::Abs(x));
    const auto negative = hn::BroadcastSignBit(hn::BitCast(ShortInt(), x));
    return hn::Sub(hn::Xor(size, negative), negative);
  }
};

// The largest number of steps between the floats of a pair.
template <typename OnLine>
HWY_INLINE std::uint32_t furthest_floats(const float* actual, const float* golden,
                                         std::uint64_t count, const OnLine& line) {
  auto furthest = hn::Zero(Shorter());
  for_each_float_vector(actual, golden, count, [&](auto a, auto g) HWY_ATTR {
    const auto left = line.place(a);
    const auto right = line.place(g);
    const auto distance = hn::Sub(hn::Max(left, right), hn::Min(left, right));
    furthest = hn::Max(furthest, hn::BitCast(Shorter(), distance));
  });
  return largest_lane(Shorter(), furthest);
}

template <typename Real>
bool is_own_grid(const StepGrid& grid) {
  return std::is_same_v<Real, float> && !grid.integer && grid.precision == 24 &&
         grid.least_exponent == -126;
}

// Returns true if any pair is more than `most` steps apart.
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
  if constexpr (std::is_same_v<Real, float>) {
    if (is_own_grid<Real>(grid)) return furthest_floats(actual, golden, count, OwnLine()) > most;
    if (places_floats(grid)) return furthest_floats(actual, golden, count, FloatLine(grid)) > most;
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
bool no_new_max_run(const Real* actual, const Real* golden, std::uint64_t count, const Judge& judge,
                    const CompareScore& score, std::uint64_t& refused) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const ScoreReal d;
  const std::uint64_t most = std::min(score.max_ulp, judge.ulp);
  // If a limit is between two doubles, exact arithmetic decides.
  if (judge.grid.integer && most > 1ULL << 53 && most != UINT64_MAX) return false;
  if constexpr (std::is_same_v<Real, float>) {
    const bool own = is_own_grid<Real>(judge.grid);
    const NoNewMaximum floats(judge, score);
    const auto seen =
        own ? floats.look<true>(actual, golden, count) : floats.look<false>(actual, golden, count);
    if (seen) {
      refused = seen->refused;
      return own ? seen->furthest <= most : !any_beyond(actual, golden, count, judge.grid, most);
    }
  }
  const RealVec atol = hn::Set(d, judge.by_error ? judge.atol : kInf);
  const RealVec rtol = hn::Set(d, judge.rtol);
  const RealVec max_abs = hn::Set(d, std::min(score.max_abs, std::numeric_limits<double>::max()));
  // A little less than both maxima, so that no rounding hides a new one, without a division.
  const RealVec relative = hn::Set(d, std::min(score.max_rel, score.least_rtol) * (1 - 0x1p-50));
  Count over;
  Count record;
  Count near;
  for_each_vector(actual, golden, count, [&](RealVec a, RealVec g) HWY_ATTR {
    const RealVec error = hn::Abs(hn::Sub(a, g));
    const RealVec size = hn::Abs(g);
    const RealVec allowed = hn::Add(atol, hn::Mul(rtol, size));
    over.add(hn::Gt(error, allowed));
    // NaN and Inf are not less than anything; for Inf times 0, exact arithmetic decides.
    record.add(hn::Not(hn::And(hn::Le(error, max_abs), hn::Eq(allowed, allowed))));
    // A subnormal product may have been rounded up to the error.
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
  constexpr double kMaxExact = 0x1p53;
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
    // Without an error, 0 / 0 may be NaN.
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
          .steps = integer ? static_cast<std::uint64_t>(std::min(furthest, kMaxExact))
                           : largest_lane(ScoreWord(), places),
          .refused = over.sum(),
          .clear = !unclear.any() && furthest < kMaxExact};
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
  constexpr std::array<decltype(Runs::no_new_max), kCpuLevels> kNoNewMax BTF_SIMD_TABLE(
      no_new_max_run<Real>);
  constexpr std::array<decltype(Runs::extremes), kCpuLevels> kExtremes BTF_SIMD_TABLE(
      extremes_of<Real>);
  std::array<Runs, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kNoNewMax[level], kExtremes[level]};
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
