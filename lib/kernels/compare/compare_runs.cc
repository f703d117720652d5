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

// As steps_between() > most.
BTF_INLINE std::uint64_t beyond(double actual, double golden, const StepGrid& grid,
                                std::uint64_t most) {
  const auto low = static_cast<std::int64_t>(steps::position(actual, grid));
  const auto high = static_cast<std::int64_t>(steps::position(golden, grid));
  const auto distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return (low < high ? distance : 0 - distance) > most ? 1 : 0;
}

BTF_INLINE std::uint64_t beyond_integers(double actual, double golden, double most) {
  return std::abs(std::nearbyint(actual) - std::nearbyint(golden)) > most ? 1 : 0;
}

BTF_INLINE bool no_record(const double* actual, const double* golden, std::uint64_t count,
                          const Judge& judge, const CompareScore& score, std::uint64_t& refused) {
  const double max_rel = score.max_rel;
  const double least_rtol = score.least_rtol;
  const double atol = judge.by_error ? judge.atol : kInf;
  const double rtol = judge.rtol;
  // An error beyond the largest double is for exact arithmetic, as is Inf times 0 below.
  const double max_abs = std::min(score.max_abs, std::numeric_limits<double>::max());
  std::uint64_t records = 0;
  std::uint64_t over = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::abs(actual[i] - golden[i]);
    const double size = std::abs(golden[i]);
    const double allowed = atol + rtol * size;
    over += error > allowed ? 1 : 0;
    const std::uint64_t unclear = std::isnan(allowed) ? 1 : 0;
    const std::uint64_t larger = error > max_abs ? 1 : 0;
    const std::uint64_t worse = error / size > max_rel ? 1 : 0;
    const std::uint64_t beyond_rtol = error > least_rtol * size ? 1 : 0;
    records |= larger | worse | beyond_rtol | unclear;
  }
  if (records != 0) return false;
  refused = over;
  const std::uint64_t most = std::min(score.max_ulp, judge.ulp);
  if (judge.grid.integer) {
    // Limits between two doubles are left to exact arithmetic.
    if (most > 1ULL << 53 && most != UINT64_MAX) return false;
    const double limit = most == UINT64_MAX ? kInf : static_cast<double>(most);
    const double unit = judge.grid.unit;
    if (unit == 1) {
      for (std::uint64_t i = 0; i < count; ++i)
        records |= beyond_integers(actual[i], golden[i], limit);
    } else {
      for (std::uint64_t i = 0; i < count; ++i)
        records |= beyond_integers(actual[i] / unit, golden[i] / unit, limit);
    }
    return records == 0;
  }
  const StepGrid grid = judge.grid;
  for (std::uint64_t i = 0; i < count; ++i) records |= beyond(actual[i], golden[i], grid, most);
  return records == 0;
}

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

BTF_LEVELS(no_record, bool,
           (const double* a, const double* g, std::uint64_t n, const Judge& j,
            const CompareScore& s, std::uint64_t& r),
           (a, g, n, j, s, r))
BTF_LEVELS(judge_run, RunSummary,
           (const double* a, const double* g, std::uint64_t n, const Judge& j, double* e,
            std::uint8_t* r),
           (a, g, n, j, e, r))
BTF_LEVELS(sums_of, RunSums, (const double* a, const double* g, std::uint64_t n), (a, g, n))
BTF_LEVELS(least_atol, double, (const double* e, const double* g, std::uint64_t n, double rtol),
           (e, g, n, rtol))
BTF_LEVELS(largest_relative, double,
           (const double* e, const double* g, const std::uint8_t* r, std::uint64_t n), (e, g, r, n))

constexpr std::array<decltype(CompareRuns::no_record), kCpuLevels> kNoRecord
    BTF_LEVEL_TABLE(no_record);
constexpr std::array<decltype(CompareRuns::judge), kCpuLevels> kJudge BTF_LEVEL_TABLE(judge_run);
constexpr std::array<decltype(CompareRuns::sums), kCpuLevels> kSums BTF_LEVEL_TABLE(sums_of);
constexpr std::array<decltype(CompareRuns::least_atol), kCpuLevels> kLeastAtol
    BTF_LEVEL_TABLE(least_atol);
constexpr std::array<decltype(CompareRuns::largest_relative), kCpuLevels> kLargestRelative
    BTF_LEVEL_TABLE(largest_relative);

constexpr auto kRuns = [] {
  std::array<CompareRuns, kCpuLevels> runs{};
  for (std::size_t level = 0; level < kCpuLevels; ++level)
    runs[level] = {kNoRecord[level], kJudge[level], kSums[level], kLeastAtol[level],
                   kLargestRelative[level]};
  return runs;
}();

}  // namespace

const CompareRuns& compare_runs() { return kRuns[cpu_level()]; }

}  // namespace btf
