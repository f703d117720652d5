// Sums are kept in eight lanes, whatever the width of vectors, so that all instruction sets give
// the same results.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/compare/compare_runs.h"
#include "kernels/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/error_runs.cc"
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

constexpr std::size_t kLanes = 8;
constexpr std::uint64_t kSignificand = (1ULL << 52) - 1;
constexpr std::size_t kWidth = hn::MaxLanes(Doubles());
constexpr std::size_t kVectors = kLanes / kWidth;

// Numbers as doubles.
template <typename D>
HWY_INLINE hn::Vec<D> load(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <typename D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

// Eight lanes of a sum, a largest magnitude, a set of bits, a count.
struct Lanes {
  DoubleVec vectors[kVectors];  // no std::array: see number_runs.cc

  HWY_INLINE Lanes() {
    for (DoubleVec& vector : vectors) vector = hn::Zero(Doubles());
  }
  HWY_INLINE void add(std::size_t i, DoubleVec x) { vectors[i] = hn::Add(vectors[i], x); }
  HWY_INLINE void keep_larger(std::size_t i, DoubleVec x) {
    vectors[i] = hn::IfThenElse(hn::Gt(x, vectors[i]), x, vectors[i]);
  }

  HWY_INLINE std::array<double, kLanes> values() const {
    std::array<double, kLanes> out;
    for (std::size_t i = 0; i < kVectors; ++i)
      hn::StoreU(vectors[i], Doubles(), out.data() + i * kWidth);
    return out;
  }
  HWY_INLINE double sum() const {
    double total = 0;
    for (const double lane : values()) total += lane;
    return total;
  }
  HWY_INLINE double largest() const {
    double most = 0;
    for (const double lane : values()) most = lane > most ? lane : most;
    return most;
  }
};

struct WordLanes {
  WordVec vectors[kVectors];

  HWY_INLINE WordLanes() {
    for (WordVec& vector : vectors) vector = hn::Zero(Words());
  }
  HWY_INLINE void set(std::size_t i, WordVec bits) { vectors[i] = hn::Or(vectors[i], bits); }
  // A set mask is -1.
  HWY_INLINE void count(std::size_t i, hn::Mask<Doubles> where) {
    vectors[i] = hn::Sub(vectors[i], hn::BitCast(Words(), hn::VecFromMask(Doubles(), where)));
  }

  HWY_INLINE std::array<std::uint64_t, kLanes> values() const {
    std::array<std::uint64_t, kLanes> out;
    for (std::size_t i = 0; i < kVectors; ++i)
      hn::StoreU(vectors[i], Words(), out.data() + i * kWidth);
    return out;
  }
};

// The rest after the last whole eight, padded with zeros: they add nothing to any sum.
struct Tail {
  std::array<double, kLanes> values{};

  template <typename Real>
  HWY_INLINE Tail(const Real* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<double>(from[i]);
  }
};

// Calls step(x, y, vector) for eights of both, then for the rest padded with zeros.
template <typename Real, typename Step>
HWY_INLINE void for_each_eight(const Real* x, const Real* y, std::uint64_t count, Step&& step) {
  const Doubles d;
  std::uint64_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    for (std::size_t i = 0; i < kVectors; ++i)
      step(load(d, x + at + i * kWidth), load(d, y + at + i * kWidth), i);
  if (at == count) return;
  const Tail last_x(x + at, count - at);
  const Tail last_y(y + at, count - at);
  for (std::size_t i = 0; i < kVectors; ++i)
    step(hn::LoadU(d, last_x.values.data() + i * kWidth),
         hn::LoadU(d, last_y.values.data() + i * kWidth), i);
}

// Four lanes, so that the sums fit into the registers of AVX2.
template <typename Real>
PairSums pair_sums(const Real* actual, const Real* golden, std::uint64_t count) {
  using Four = hn::CappedTag<double, 4>;
  using FourWords = hn::RebindToUnsigned<Four>;
  constexpr std::size_t kFour = 4;
  constexpr std::size_t kStep = hn::MaxLanes(Four());
  constexpr std::size_t kParts = kFour / kStep;
  const Four d;
  using Vec = hn::Vec<Four>;
  using Bits = hn::Vec<FourWords>;
  struct Lane {
    Vec error, square, product, largest, golden, golden2, golden_most, actual_most;
    Bits equal, golden_bits, actual_bits;

    HWY_INLINE Lane() {
      error = square = product = largest = hn::Zero(Four());
      golden = golden2 = golden_most = actual_most = hn::Zero(Four());
      equal = golden_bits = actual_bits = hn::Zero(FourWords());
    }
  };
  Lane lanes[kParts];
  const auto add = [&](Lane& lane, Vec a, Vec g) HWY_ATTR {
    const Vec e = hn::Sub(a, g);
    lane.error = hn::Add(lane.error, e);
    lane.square = hn::Add(lane.square, hn::Mul(e, e));
    lane.product = hn::Add(lane.product, hn::Mul(e, g));
    lane.largest = hn::Max(lane.largest, hn::Abs(e));
    lane.golden = hn::Add(lane.golden, g);
    lane.golden2 = hn::Add(lane.golden2, hn::Mul(g, g));
    lane.golden_most = hn::Max(lane.golden_most, hn::Abs(g));
    lane.actual_most = hn::Max(lane.actual_most, hn::Abs(a));
    lane.golden_bits = hn::Or(lane.golden_bits, hn::BitCast(FourWords(), g));
    lane.actual_bits = hn::Or(lane.actual_bits, hn::BitCast(FourWords(), a));
    lane.equal = hn::Sub(lane.equal, hn::BitCast(FourWords(), hn::VecFromMask(d, hn::Eq(a, g))));
  };
  std::uint64_t at = 0;
  for (; at + kFour <= count; at += kFour)
    for (std::size_t i = 0; i < kParts; ++i)
      add(lanes[i], load(d, actual + at + i * kStep), load(d, golden + at + i * kStep));
  PairSums sums;
  if (at < count) {
    const Tail last_actual(actual + at, count - at);
    const Tail last_golden(golden + at, count - at);
    for (std::size_t i = 0; i < kParts; ++i)
      add(lanes[i], hn::LoadU(d, last_actual.values.data() + i * kStep),
          hn::LoadU(d, last_golden.values.data() + i * kStep));
    sums.errors.equal -= kFour - (count - at);  // the padding is equal too
  }
  for (const Lane& lane : lanes) {
    std::array<double, kStep> values;
    std::array<std::uint64_t, kStep> words;
    const auto each = [&](Vec vec, auto&& take) HWY_ATTR {
      hn::StoreU(vec, d, values.data());
      for (const double value : values) take(value);
    };
    const auto each_word = [&](Bits bits, auto&& take) HWY_ATTR {
      hn::StoreU(bits, FourWords(), words.data());
      for (const std::uint64_t word : words) take(word);
    };
    each(lane.error, [&](double x) { sums.errors.error += x; });
    each(lane.square, [&](double x) { sums.errors.square += x; });
    each(lane.product, [&](double x) { sums.errors.product += x; });
    each(lane.golden, [&](double x) { sums.golden.sum += x; });
    each(lane.golden2, [&](double x) { sums.golden.square += x; });
    each(lane.largest, [&](double x) {
      if (x > sums.errors.largest) sums.errors.largest = x;
    });
    each(lane.golden_most, [&](double x) {
      if (x > sums.golden.largest) sums.golden.largest = x;
    });
    each(lane.actual_most, [&](double x) {
      if (x > sums.actual_largest) sums.actual_largest = x;
    });
    each_word(lane.equal, [&](std::uint64_t x) { sums.errors.equal += x; });
    each_word(lane.golden_bits, [&](std::uint64_t x) { sums.golden.bits |= x & kSignificand; });
    each_word(lane.actual_bits, [&](std::uint64_t x) { sums.actual_bits |= x & kSignificand; });
  }
  return sums;
}

template <typename Real>
SideSums side_sums(const Real* values, std::uint64_t count) {
  Lanes sum;
  Lanes square;
  Lanes largest;
  WordLanes bits;
  for_each_eight(values, values, count, [&](DoubleVec x, DoubleVec, std::size_t i) HWY_ATTR {
    sum.add(i, x);
    square.add(i, hn::Mul(x, x));
    largest.keep_larger(i, hn::Abs(x));
    bits.set(i, hn::BitCast(Words(), x));
  });
  SideSums sums{.sum = sum.sum(), .square = square.sum(), .largest = largest.largest()};
  for (const std::uint64_t lane : bits.values()) sums.bits |= lane & kSignificand;
  return sums;
}

template <typename Real>
ErrorSums error_sums(const Real* actual, const Real* golden, std::uint64_t count, double limit) {
  const DoubleVec at = hn::Set(Doubles(), limit);
  Lanes error;
  Lanes square;
  Lanes product;
  Lanes largest;
  WordLanes equal;
  WordLanes at_limit;
  for_each_eight(actual, golden, count, [&](DoubleVec a, DoubleVec g, std::size_t i) HWY_ATTR {
    const DoubleVec e = hn::Sub(a, g);
    error.add(i, e);
    square.add(i, hn::Mul(e, e));
    product.add(i, hn::Mul(e, g));
    largest.keep_larger(i, hn::Abs(e));
    equal.count(i, hn::Eq(a, g));
    at_limit.count(i, hn::And(hn::Ge(hn::Abs(a), at), hn::Lt(hn::Abs(g), at)));
  });
  ErrorSums sums{.error = error.sum(),
                 .square = square.sum(),
                 .product = product.sum(),
                 .largest = largest.largest()};
  for (const std::uint64_t lane : equal.values()) sums.equal += lane;
  for (const std::uint64_t lane : at_limit.values()) sums.at_limit += lane;
  // The padding is equal too.
  sums.equal -= (kLanes - count % kLanes) % kLanes;
  return sums;
}

template <typename Real>
void add_squares(const Real* actual, const Real* golden, std::uint64_t count, double* error2,
                 double* golden2) {
  const Doubles d;
  std::uint64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const DoubleVec g = load(d, golden + i);
    const DoubleVec e = hn::Sub(load(d, actual + i), g);
    hn::StoreU(hn::Add(hn::LoadU(d, error2 + i), hn::Mul(e, e)), d, error2 + i);
    hn::StoreU(hn::Add(hn::LoadU(d, golden2 + i), hn::Mul(g, g)), d, golden2 + i);
  }
  for (; i < count; ++i) {
    const auto g = static_cast<double>(golden[i]);
    const double e = static_cast<double>(actual[i]) - g;
    error2[i] += e * e;
    golden2[i] += g * g;
  }
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

template <typename Real>
constexpr auto kErrorRuns = [] {
  using Runs = ErrorRuns<Real>;
  constexpr std::array<decltype(Runs::pairs), kCpuLevels> kPairs BTF_SIMD_TABLE(pair_sums<Real>);
  constexpr std::array<decltype(Runs::side), kCpuLevels> kSide BTF_SIMD_TABLE(side_sums<Real>);
  constexpr std::array<decltype(Runs::errors), kCpuLevels> kErrors BTF_SIMD_TABLE(error_sums<Real>);
  constexpr std::array<decltype(Runs::squares), kCpuLevels> kSquares BTF_SIMD_TABLE(
      add_squares<Real>);
  std::array<Runs, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kPairs[level], kSide[level], kErrors[level], kSquares[level]};
  return runs;
}();

}  // namespace

template <typename Real>
const ErrorRuns<Real>& error_runs() {
  return kErrorRuns<Real>[cpu_level()];
}

template const ErrorRuns<float>& error_runs<float>();
template const ErrorRuns<double>& error_runs<double>();

}  // namespace btf
#endif
