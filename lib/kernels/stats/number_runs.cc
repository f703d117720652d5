// Sums go lane by lane over eight lanes, however wide the vectors are, and no multiplication is
// fused with an addition, so that every instruction set rounds alike.
#include <array>

#include "kernels/cpu/simd_targets.h"
#include "kernels/stats/stats.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stats/number_runs.cc"
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
constexpr std::size_t kWidth = hn::MaxLanes(Doubles());
constexpr std::size_t kVectors = kLanes / kWidth;

// Not a std::array, whose constructor would not be compiled for the instruction set, as NEON's
// vectors require.
template <typename Tag>
struct Eight {
  // A defaulted constructor would not be compiled for the instruction set either.
  HWY_INLINE Eight() {}  // NOLINT(modernize-use-equals-default)

  HWY_INLINE void fill(hn::Vec<Tag> x) {
    for (hn::Vec<Tag>& vector : vectors) vector = x;
  }
  HWY_INLINE hn::Vec<Tag>& operator[](std::size_t i) { return vectors[i]; }
  HWY_INLINE const hn::Vec<Tag>& operator[](std::size_t i) const { return vectors[i]; }

  hn::Vec<Tag> vectors[kVectors];
};

template <typename Tag>
HWY_INLINE std::array<hn::TFromD<Tag>, kLanes> lanes_of(Tag tag, const Eight<Tag>& vectors) {
  std::array<hn::TFromD<Tag>, kLanes> lanes;
  for (std::size_t i = 0; i < kVectors; ++i) hn::StoreU(vectors[i], tag, lanes.data() + i * kWidth);
  return lanes;
}

template <typename Tag>
HWY_INLINE Eight<Tag> eight(hn::Vec<Tag> x) {
  Eight<Tag> vectors;
  vectors.fill(x);
  return vectors;
}

// Calls step(x, i) for eights of values, then for the rest padded with `filler`. Returns the number
// of fillers.
template <typename Tag, typename T, typename Step>
HWY_INLINE std::uint64_t for_each_eight(Tag tag, const T* values, std::uint64_t count, T filler,
                                        Step&& step) {
  std::uint64_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    for (std::size_t i = 0; i < kVectors; ++i) step(hn::LoadU(tag, values + at + i * kWidth), i);
  if (at == count) return 0;
  std::array<T, kLanes> tail;
  for (std::size_t i = 0; i < kLanes; ++i) tail[i] = at + i < count ? values[at + i] : filler;
  for (std::size_t i = 0; i < kVectors; ++i) step(hn::LoadU(tag, tail.data() + i * kWidth), i);
  return at + kLanes - count;
}

// The rounded sum of x and y, and its rounding error.
struct TwoSum {
  DoubleVec sum;
  DoubleVec rest;

  HWY_INLINE TwoSum(DoubleVec x, DoubleVec y) : sum(hn::Add(x, y)) {
    const DoubleVec part = hn::Sub(sum, x);
    rest = hn::Add(hn::Sub(x, hn::Sub(sum, part)), hn::Sub(y, part));
  }
};

double two_sum(double x, double y, double& rest) {
  const double sum = x + y;
  const double part = sum - x;
  rest += (x - (sum - part)) + (y - part);
  return sum;
}

// Eight sums, each with the sum of its rounding errors.
struct LaneSums {
  Eight<Doubles> sums;
  Eight<Doubles> rests;

  HWY_INLINE LaneSums() {
    sums.fill(hn::Zero(Doubles()));
    rests.fill(hn::Zero(Doubles()));
  }
  HWY_INLINE void add(std::size_t i, DoubleVec x) {
    const TwoSum two(sums[i], x);
    sums[i] = two.sum;
    rests[i] = hn::Add(rests[i], two.rest);
  }

  HWY_INLINE Squares total() const {
    Squares all;
    for (const double lane : lanes_of(Doubles(), sums)) all.sum = two_sum(all.sum, lane, all.rest);
    for (const double lane : lanes_of(Doubles(), rests)) all.rest += lane;
    return all;
  }
};

// A set mask is -1.
HWY_INLINE WordVec count_where(WordVec counted, hn::Mask<Doubles> where) {
  return hn::Sub(counted, hn::BitCast(Words(), hn::VecFromMask(Doubles(), where)));
}

HWY_INLINE std::uint64_t total_of(const Eight<Words>& counted) {
  std::uint64_t total = 0;
  for (const std::uint64_t lane : lanes_of(Words(), counted)) total += lane;
  return total;
}

NumberSums sums(const double* values, std::uint64_t count, double limit) {
  LaneSums sum;
  for_each_eight(Doubles(), values, count, 0.0,
                 [&](DoubleVec x, std::size_t i) HWY_ATTR { sum.add(i, x); });
  const DoubleVec below = hn::Set(Doubles(), limit);
  Eight<Doubles> least = eight<Doubles>(hn::Set(Doubles(), values[0]));
  Eight<Doubles> most = least;
  Eight<Words> small = eight<Words>(hn::Zero(Words()));
  const std::uint64_t filled =
      for_each_eight(Doubles(), values, count, values[0], [&](DoubleVec x, std::size_t i) HWY_ATTR {
        least[i] = hn::Min(least[i], x);
        most[i] = hn::Max(most[i], x);
        small[i] = count_where(small[i], hn::Lt(hn::Abs(x), below));
      });
  const Squares total = sum.total();
  NumberSums all{total.sum, total.rest, values[0], values[0], total_of(small)};
  if (values[0] < limit && -values[0] < limit) all.small -= filled;
  for (const double lane : lanes_of(Doubles(), least))
    all.least = lane < all.least ? lane : all.least;
  for (const double lane : lanes_of(Doubles(), most)) all.most = lane > all.most ? lane : all.most;
  return all;
}

std::uint64_t zeros(const double* values, std::uint64_t count) {
  Eight<Words> zero = eight<Words>(hn::Zero(Words()));
  for_each_eight(Doubles(), values, count, 1.0, [&](DoubleVec x, std::size_t i) HWY_ATTR {
    zero[i] = count_where(zero[i], hn::Eq(x, hn::Zero(Doubles())));
  });
  return total_of(zero);
}

Squares squares(const double* values, std::uint64_t count, double centre) {
  const DoubleVec from = hn::Set(Doubles(), centre);
  LaneSums sum;
  for_each_eight(Doubles(), values, count, centre, [&](DoubleVec x, std::size_t i) HWY_ATTR {
    const DoubleVec away = hn::Sub(x, from);
    sum.add(i, hn::Mul(away, away));
  });
  return sum.total();
}

IntegerSums integer_sums(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn) {
  const Words words;
  const hn::RebindToSigned<Words> integers;
  // Vectors only have the minimum and maximum of signed numbers.
  const WordVec sign = hn::Set(words, std::uint64_t{1} << 63);
  const WordVec turned = hn::Set(words, turn);
  const WordVec zero = turned;
  const WordVec lower = hn::Set(words, 0xffffffff);
  Eight<Words> high = eight<Words>(hn::Zero(words));
  Eight<Words> low = high;
  Eight<Words> equal = high;
  using Signed = hn::RebindToSigned<Words>;
  const std::uint64_t filler = values[0];
  Eight<Signed> least =
      eight<Signed>(hn::BitCast(integers, hn::Xor(hn::Set(words, filler ^ turn), sign)));
  Eight<Signed> most = least;
  const std::uint64_t filled =
      for_each_eight(words, values, count, filler, [&](WordVec x, std::size_t i) HWY_ATTR {
        const WordVec value = hn::Xor(x, turned);
        high[i] = hn::Add(high[i], hn::ShiftRight<32>(value));
        low[i] = hn::Add(low[i], hn::And(value, lower));
        equal[i] = hn::Sub(equal[i], hn::VecFromMask(words, hn::Eq(value, zero)));
        const auto ordered = hn::BitCast(integers, hn::Xor(value, sign));
        least[i] = hn::Min(least[i], ordered);
        most[i] = hn::Max(most[i], ordered);
      });
  const std::uint64_t fill = filler ^ turn;
  IntegerSums all{total_of(high) - filled * (fill >> 32),
                  total_of(low) - filled * (fill & 0xffffffff), fill, fill,
                  total_of(equal) - (fill == turn ? filled : 0)};
  for (const std::int64_t lane : lanes_of(integers, least)) {
    const std::uint64_t value = static_cast<std::uint64_t>(lane) ^ (std::uint64_t{1} << 63);
    all.least = value < all.least ? value : all.least;
  }
  for (const std::int64_t lane : lanes_of(integers, most)) {
    const std::uint64_t value = static_cast<std::uint64_t>(lane) ^ (std::uint64_t{1} << 63);
    all.most = value > all.most ? value : all.most;
  }
  return all;
}

// 2^52 and an integer below 2^32 in its last bits.
constexpr std::uint64_t kWhole = 0x4330000000000000;

Squares integer_squares(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn,
                        std::uint64_t centre) {
  const Words words;
  const Doubles doubles;
  const WordVec turned = hn::Set(words, turn);
  const WordVec lower = hn::Set(words, 0xffffffff);
  const WordVec whole = hn::Set(words, kWhole);
  const DoubleVec centre_high = hn::BitCast(doubles, hn::Set(words, kWhole | centre >> 32));
  const DoubleVec centre_low = hn::BitCast(doubles, hn::Set(words, kWhole | (centre & 0xffffffff)));
  const DoubleVec unit = hn::Set(doubles, 4294967296.0);
  LaneSums sum;
  for_each_eight(words, values, count, centre ^ turn, [&](WordVec x, std::size_t i) HWY_ATTR {
    const WordVec value = hn::Xor(x, turned);
    const DoubleVec high = hn::BitCast(doubles, hn::Or(hn::ShiftRight<32>(value), whole));
    const DoubleVec low = hn::BitCast(doubles, hn::Or(hn::And(value, lower), whole));
    const DoubleVec away =
        hn::Add(hn::Mul(hn::Sub(high, centre_high), unit), hn::Sub(low, centre_low));
    sum.add(i, hn::Mul(away, away));
  });
  return sum.total();
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {
namespace {

constexpr std::array<decltype(NumberRuns::sums), kCpuLevels> kSums BTF_SIMD_TABLE(sums);
constexpr std::array<decltype(NumberRuns::zeros), kCpuLevels> kZeros BTF_SIMD_TABLE(zeros);
constexpr std::array<decltype(NumberRuns::squares), kCpuLevels> kSquares BTF_SIMD_TABLE(squares);
constexpr std::array<decltype(NumberRuns::integer_sums), kCpuLevels> kIntegerSums
    BTF_SIMD_TABLE(integer_sums);
constexpr std::array<decltype(NumberRuns::integer_squares), kCpuLevels> kIntegerSquares
    BTF_SIMD_TABLE(integer_squares);

constexpr auto kNumberRuns = [] {
  std::array<NumberRuns, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kSums[level], kZeros[level], kSquares[level], kIntegerSums[level],
                   kIntegerSquares[level]};
  return runs;
}();

}  // namespace

const NumberRuns& number_runs() { return kNumberRuns[cpu_level()]; }

}  // namespace btf
#endif
