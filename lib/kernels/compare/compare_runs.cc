#include "kernels/compare/compare_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/cpu_level.h"

namespace btf {
namespace {

constexpr std::size_t kLanes = 8;

// As the vector instruction does: if `x` is NaN, `largest` stays.
BTF_INLINE void keep_larger(double& largest, double x) { largest = x > largest ? x : largest; }

using Lanes = std::array<double, kLanes>;

struct SumLanes : FigureSums<Lanes> {
  Lanes largest{};
};

BTF_INLINE void add_pair(SumLanes& lanes, std::size_t lane, double a, double g) {
  lanes.add_pair(a, g, [lane](Lanes& sums, double term) BTF_INLINE_LAMBDA { sums[lane] += term; });
  keep_larger(lanes.largest[lane], std::abs(g));
}

BTF_INLINE RunSums sums_of(const double* actual, const double* golden, std::uint64_t count) {
  SumLanes lanes;
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      add_pair(lanes, lane, actual[i + lane], golden[i + lane]);
  for (std::size_t lane = 0; i < count; ++i, ++lane) add_pair(lanes, lane, actual[i], golden[i]);
  RunSums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.add_sums(
        lanes, [lane](double& sum, const Lanes& parts) BTF_INLINE_LAMBDA { sum += parts[lane]; });
    sums.largest = std::max(sums.largest, lanes.largest[lane]);
  }
  return sums;
}

// Four maxima for each lane, to hide the latency of a single one.
BTF_INLINE double least_atol(const double* error, const double* golden, std::uint64_t count,
                             double rtol) {
  constexpr std::size_t kMaxima = 4 * kLanes;
  std::array<double, kMaxima> least{};
  std::uint64_t i = 0;
  for (; i + kMaxima <= count; i += kMaxima)
    for (std::size_t lane = 0; lane < kMaxima; ++lane)
      keep_larger(least[lane], left_to_accept(error[i + lane], golden[i + lane], rtol));
  for (; i < count; ++i) keep_larger(least[0], left_to_accept(error[i], golden[i], rtol));
  return *std::ranges::max_element(least);
}

BTF_INLINE bool within(const double* values, std::uint64_t count, double most) {
  std::uint64_t inside = 0;
  for (std::uint64_t i = 0; i < count; ++i) inside += std::abs(values[i]) <= most ? 1U : 0U;
  return inside == count;
}

BTF_LEVELS(sums_of, RunSums, (const double* a, const double* g, std::uint64_t n), (a, g, n))
BTF_LEVELS(least_atol, double, (const double* e, const double* g, std::uint64_t n, double rtol),
           (e, g, n, rtol))
BTF_LEVELS(within, bool, (const double* x, std::uint64_t n, double most), (x, n, most))

constexpr std::array<decltype(CompareRuns::sums), kCpuLevels> kSums BTF_LEVEL_TABLE(sums_of);
constexpr std::array<decltype(CompareRuns::least_atol), kCpuLevels> kMinAtol
    BTF_LEVEL_TABLE(least_atol);
constexpr std::array<decltype(CompareRuns::within), kCpuLevels> kWithin BTF_LEVEL_TABLE(within);

constexpr auto kRuns = [] {
  std::array<CompareRuns, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kSums[level], kMinAtol[level], kWithin[level]};
  return runs;
}();

}  // namespace

const CompareRuns& compare_runs() { return kRuns[cpu_level()]; }

}  // namespace btf
