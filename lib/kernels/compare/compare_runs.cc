#include "kernels/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_level.h"

namespace btf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 8;

// As the vector instruction: NaN in `x` leaves `largest`.
BTF_INLINE void keep_larger(double& largest, double x) { largest = x > largest ? x : largest; }

BTF_INLINE RunSummary judge_run(const double* actual, const double* golden, std::uint64_t count,
                                const Judge& judge, double* error, std::uint8_t* refused) {
  const double atol = judge.by_error ? judge.atol : kInf;
  const double rtol = judge.rtol;
  RunSummary summary;
  std::uint64_t flags = 0;
  std::uint64_t odd = 0;
  std::array<double, kLanes> largest{};
  for (std::uint64_t i = 0; i < count; ++i) {
    const double a = actual[i];
    const double g = golden[i];
    // x - x is 0, or NaN for NaN and Inf.
    const double distance = std::abs(a - g) + ((a - a) + (g - g));
    const double allowed = atol + rtol * std::abs(g);
    error[i] = distance;
    const std::uint64_t over = distance > allowed ? 1 : 0;
    // Of finite numbers only where something is beyond the largest double.
    const std::uint64_t unclear = !(distance < kInf && allowed < kInf) ? 1 : 0;
    refused[i] = static_cast<std::uint8_t>(over | unclear << 1);
    flags += over;
    odd |= unclear;
  }
  const bool by_ulp = judge.ulp != UINT64_MAX;
  if (odd != 0 || by_ulp) {
    flags = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (refused[i] > 1 || by_ulp) refused[i] = accepts(actual[i], golden[i], judge) ? 0 : 1;
      flags += refused[i];
    }
  }
  std::uint64_t special = 0;
  std::uint64_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      keep_larger(largest[lane], error[at + lane]);
      special |= std::isnan(error[at + lane]) ? 1 : 0;
    }
  for (; at < count; ++at) {
    keep_larger(largest[0], error[at]);
    special |= std::isnan(error[at]) ? 1 : 0;
  }
  summary.refused = flags;
  summary.special = special != 0;
  for (const double lane : largest) summary.largest_error = std::max(summary.largest_error, lane);
  return summary;
}

struct SumLanes {
  std::array<double, kLanes> error{}, error2{}, actual2{}, golden{}, golden2{}, product{},
      largest{};
};

BTF_INLINE void add_pair(SumLanes& lanes, std::size_t lane, double a, double g) {
  lanes.error[lane] += a - g;
  lanes.error2[lane] += (a - g) * (a - g);
  lanes.actual2[lane] += a * a;
  lanes.golden[lane] += g;
  lanes.golden2[lane] += g * g;
  lanes.product[lane] += a * g;
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
    sums.error += lanes.error[lane];
    sums.error2 += lanes.error2[lane];
    sums.actual2 += lanes.actual2[lane];
    sums.golden += lanes.golden[lane];
    sums.golden2 += lanes.golden2[lane];
    sums.product += lanes.product[lane];
    sums.largest = std::max(sums.largest, lanes.largest[lane]);
  }
  return sums;
}

BTF_INLINE double left_to_accept(double error, double golden, double rtol) {
  return error * (1 + 0x1p-50) - rtol * std::abs(golden);
}

BTF_INLINE double least_atol(const double* error, const double* golden, std::uint64_t count,
                             double rtol) {
  std::array<double, kLanes> least{};
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      keep_larger(least[lane], left_to_accept(error[i + lane], golden[i + lane], rtol));
  for (; i < count; ++i) keep_larger(least[0], left_to_accept(error[i], golden[i], rtol));
  return *std::ranges::max_element(least);
}

BTF_INLINE double relative_if(std::uint8_t refused, double error, double golden) {
  return refused != 0 ? error / std::abs(golden) : 0;
}

BTF_INLINE double largest_relative(const double* error, const double* golden,
                                   const std::uint8_t* refused, std::uint64_t count) {
  std::array<double, kLanes> largest{};
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      keep_larger(largest[lane], relative_if(refused[i + lane], error[i + lane], golden[i + lane]));
  for (; i < count; ++i) keep_larger(largest[0], relative_if(refused[i], error[i], golden[i]));
  return *std::ranges::max_element(largest);
}

BTF_LEVELS(judge_run, RunSummary,
           (const double* a, const double* g, std::uint64_t n, const Judge& j, double* e,
            std::uint8_t* r),
           (a, g, n, j, e, r))
BTF_LEVELS(sums_of, RunSums, (const double* a, const double* g, std::uint64_t n), (a, g, n))
BTF_LEVELS(least_atol, double, (const double* e, const double* g, std::uint64_t n, double rtol),
           (e, g, n, rtol))
BTF_LEVELS(largest_relative, double,
           (const double* e, const double* g, const std::uint8_t* r, std::uint64_t n), (e, g, r, n))

constexpr std::array<decltype(CompareRuns::judge), kCpuLevels> kJudge BTF_LEVEL_TABLE(judge_run);
constexpr std::array<decltype(CompareRuns::sums), kCpuLevels> kSums BTF_LEVEL_TABLE(sums_of);
constexpr std::array<decltype(CompareRuns::least_atol), kCpuLevels> kLeastAtol
    BTF_LEVEL_TABLE(least_atol);
constexpr std::array<decltype(CompareRuns::largest_relative), kCpuLevels> kLargestRelative
    BTF_LEVEL_TABLE(largest_relative);

constexpr auto kRuns = [] {
  std::array<CompareRuns, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kJudge[level], kSums[level], kLeastAtol[level], kLargestRelative[level]};
  return runs;
}();

}  // namespace

const CompareRuns& compare_runs() { return kRuns[cpu_level()]; }

}  // namespace btf
