#include <array>
#include <cmath>
#include <limits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/stats/stats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/agree_runs.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Words = hn::RebindToUnsigned<Doubles>;
using DoubleVec = hn::Vec<Doubles>;
using WordVec = hn::Vec<Words>;
using DoubleMask = hn::Mask<Doubles>;

constexpr std::size_t kWidth = hn::MaxLanes(Doubles());

HWY_INLINE std::uint64_t bits_of(DoubleMask mask) {
  std::array<std::uint8_t, 8> bytes{};
  hn::StoreMaskBits(Doubles(), mask, bytes.data());
  return bytes[0];
}

// As steps::magnitude_position().
HWY_INLINE WordVec position(WordVec magnitude, const StepGrid& grid) {
  const Words w;
  const WordVec base = hn::Set(w, grid.base);
  const WordVec odd =
      hn::And(hn::Sub(hn::ShiftRightSame(magnitude, grid.drop), base), hn::Set(w, grid.odd));
  const WordVec up = hn::Add(hn::Add(magnitude, hn::Set(w, grid.half)), odd);
  const WordVec normal = hn::Sub(hn::ShiftRightSame(up, grid.drop), base);
  const Doubles d;
  const DoubleVec scaled =
      hn::Add(hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, grid.small_scale)), hn::Set(d, 0x1p52));
  const WordVec small = hn::And(hn::BitCast(w, scaled), hn::Set(w, 0x000fffffffffffff));
  // Both are non-negative, so a signed comparison is correct.
  const hn::RebindToSigned<Words> integers;
  const auto is_small =
      hn::Lt(hn::BitCast(integers, magnitude), hn::BitCast(integers, hn::Set(w, grid.normal_from)));
  return hn::IfThenElse(hn::RebindMask(w, is_small), small, normal);
}

// For finite numbers.
HWY_INLINE DoubleMask same_step(DoubleVec x, DoubleVec y, const StepGrid& grid) {
  const Doubles d;
  const Words w;
  if (grid.integer) {
    const DoubleVec unit = hn::Set(d, grid.unit);
    const DoubleVec whole = hn::Sub(hn::Round(hn::Div(x, unit)), hn::Round(hn::Div(y, unit)));
    return hn::And(hn::Eq(whole, hn::Zero(d)), hn::Lt(hn::Abs(hn::Sub(x, y)), hn::Set(d, 1.0)));
  }
  const WordVec sign = hn::Set(w, std::uint64_t{1} << 63);
  const WordVec x_bits = hn::BitCast(w, x);
  const WordVec y_bits = hn::BitCast(w, y);
  const WordVec x_place = position(hn::AndNot(sign, x_bits), grid);
  const WordVec y_place = position(hn::AndNot(sign, y_bits), grid);
  // 0 has no sign.
  const WordVec signs = hn::And(hn::Xor(x_bits, y_bits), sign);
  const auto one_side =
      hn::Or(hn::Eq(signs, hn::Zero(w)), hn::Eq(hn::Or(x_place, y_place), hn::Zero(w)));
  return hn::RebindMask(d, hn::And(hn::Eq(x_place, y_place), one_side));
}

// Numbers that are farther apart than this have different positions: a step is at most
// 2^(1 - precision) of a number, or the smallest step.
struct OneStep {
  double share;
  double least;

  explicit OneStep(const StepGrid& grid)
      : share(grid.integer ? 0 : std::ldexp(1.0, 3 - grid.precision)),
        least(grid.integer ? 1 : std::ldexp(1.0, grid.least_exponent + 3 - grid.precision)) {}
};

HWY_INLINE DoubleMask may_be_one_step(DoubleVec error, DoubleVec size, const OneStep& step) {
  const Doubles d;
  return hn::Le(error, hn::Add(hn::Mul(size, hn::Set(d, step.share)), hn::Set(d, step.least)));
}

struct Answers {
  std::uint64_t yes = 0;
  std::uint64_t ask = 0;
};

// For kWidth pairs. Without a tolerance, limits.one and limits.other are 0.
template <bool kTolerant>
HWY_INLINE Answers agree(DoubleVec a, DoubleVec g, const AgreeLimits& limits, const OneStep& step) {
  const Doubles d;
  const DoubleVec inf = hn::Set(d, std::numeric_limits<double>::infinity());
  const DoubleVec error = hn::Abs(hn::Sub(a, g));
  const DoubleVec size = hn::Abs(g);
  DoubleMask clear = hn::Lt(error, inf);
  DoubleMask yes = hn::Eq(a, g);
  if constexpr (kTolerant) {
    const auto allowed = [&](const AgreeLimits::Tolerance& tolerance) HWY_ATTR {
      return hn::Add(hn::Set(d, tolerance.atol), hn::Mul(hn::Set(d, tolerance.rtol), size));
    };
    const DoubleVec one = allowed(limits.one);
    const DoubleVec other = allowed(limits.other);
    clear = hn::And(clear, hn::And(hn::Lt(one, inf), hn::Lt(other, inf)));
    const DoubleMask within = hn::Or(hn::Le(error, one), hn::Le(error, other));
    yes = hn::Or(yes, hn::And(clear, within));
  }
  const DoubleMask open = hn::AndNot(yes, hn::And(clear, may_be_one_step(error, size, step)));
  if (!hn::AllFalse(d, open)) yes = hn::Or(yes, hn::And(open, same_step(a, g, limits.grid)));
  return {bits_of(yes), bits_of(hn::Not(hn::Or(yes, clear)))};
}

// kWidth numbers of an array, from `at` on.
struct WholeVector {
  std::uint64_t at;
  HWY_INLINE DoubleVec operator()(const double* values) const {
    return hn::LoadU(Doubles(), values + at);
  }
};

// Fewer numbers, padded with zeros.
struct PartOfVector {
  std::uint64_t at;
  std::uint64_t count;
  HWY_INLINE DoubleVec operator()(const double* values) const {
    std::array<double, kWidth> some{};
    for (std::uint64_t k = 0; k < count; ++k) some[k] = *(values + at + k);
    return hn::LoadU(Doubles(), some.data());
  }
};

// Calls answer(load) for each vector, whose numbers load(array) returns, and take(word, answers)
// for each 64 numbers.
template <typename Answer, typename Take>
HWY_INLINE void for_each_word(std::uint64_t count, const Answer& answer, const Take& take) {
  constexpr std::uint64_t kBits = 64;
  for (std::uint64_t at = 0; at < count; at += kBits) {
    const std::uint64_t n = count - at < kBits ? count - at : kBits;
    Answers all;
    std::uint64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      const Answers some = answer(WholeVector{at + i});
      all.yes |= some.yes << i;
      all.ask |= some.ask << i;
    }
    if (i < n) {
      const Answers some = answer(PartOfVector{at + i, n - i});
      const std::uint64_t there = (std::uint64_t{1} << (n - i)) - 1;
      all.yes |= (some.yes & there) << i;
      all.ask |= (some.ask & there) << i;
    }
    take(at / kBits, all);
  }
}

template <bool kTolerant>
void agree_by(const double* actual, const double* golden, std::uint64_t count,
              const AgreeLimits& limits, const AgreeBits& bits) {
  const OneStep step(limits.grid);
  for_each_word(
      count,
      [&](auto load)
          HWY_ATTR { return agree<kTolerant>(load(actual), load(golden), limits, step); },
      [&](std::uint64_t word, const Answers& answers) {
        *(bits.yes + word) = answers.yes;
        *(bits.ask + word) = answers.ask;
      });
}

void agree_all(const double* actual, const double* golden, std::uint64_t count,
               const AgreeLimits& limits, const AgreeBits& bits) {
  const auto none = [](const AgreeLimits::Tolerance& tolerance) {
    return tolerance.rtol == 0 && tolerance.atol == 0;
  };
  none(limits.one) && none(limits.other) ? agree_by<false>(actual, golden, count, limits, bits)
                                         : agree_by<true>(actual, golden, count, limits, bits);
}

void predicted_all(const PredictedRun& run, double share, std::uint64_t* yes) {
  const Doubles d;
  const DoubleVec inf = hn::Set(d, std::numeric_limits<double>::infinity());
  for_each_word(
      run.count,
      [&](auto load) HWY_ATTR {
        const DoubleVec predicted = load(run.predicted);
        const DoubleVec rest = hn::Abs(hn::Sub(load(run.seen), predicted));
        const DoubleVec most = hn::Mul(hn::Set(d, share), hn::Abs(predicted));
        const DoubleMask finite = hn::And(hn::Lt(rest, inf), hn::Lt(hn::Abs(load(run.from)), inf));
        return Answers{.yes = bits_of(hn::And(finite, hn::Le(rest, most)))};
      },
      [&](std::uint64_t word, const Answers& answers) { *(yes + word) = answers.yes; });
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

void agree_run(const double* actual, const double* golden, std::uint64_t count,
               const AgreeLimits& limits, const AgreeBits& bits) {
  BTF_SIMD_CALL(agree_all)(actual, golden, count, limits, bits);
}

void predicted_run(const PredictedRun& run, double share, std::uint64_t* yes) {
  BTF_SIMD_CALL(predicted_all)(run, share, yes);
}

}  // namespace btf
#endif
