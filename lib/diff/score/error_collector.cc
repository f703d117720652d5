// Errors by decade, and pairs of tolerances that would be enough.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "diff/score/collectors.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kLeastDecade = -324;
constexpr int kDecades = 309 - kLeastDecade;  // the last is that of the largest double

// 10^(kLeastDecade + i), correctly rounded; Inf behind the last.
const std::array<double, kDecades + 1>& powers_of_ten() {
  static const auto kPowers = [] {
    std::array<double, kDecades + 1> powers{};
    for (int i = 0; i < kDecades; ++i) {
      const std::string text = "1e" + std::to_string(kLeastDecade + i);
      // Below the least double the result is left as it is: 0.
      std::from_chars(text.data(), text.data() + text.size(), powers[static_cast<std::size_t>(i)]);
    }
    powers.back() = kInf;
    return powers;
  }();
  return kPowers;
}

// Doubles of one exponent: the decade of the least, and the start of the next decade.
struct Binade {
  std::uint16_t decade = 0;
  double next = kInf;
};

const std::array<Binade, 2048>& binades() {
  static const auto kBinades = [] {
    const auto& powers = powers_of_ten();
    std::array<Binade, 2048> binades;
    std::size_t at = 0;
    for (std::size_t exponent = 1; exponent < 2047; ++exponent) {
      const double least = std::ldexp(1.0, static_cast<int>(exponent) - 1023);
      while (at + 1 < kDecades && least >= powers[at + 1]) ++at;
      binades[exponent] = {static_cast<std::uint16_t>(at), powers[at + 1]};
    }
    // Inf, which is not below its `next`, counts with the largest.
    binades[2047] = {kDecades - 2, kInf};
    return binades;
  }();
  return kBinades;
}

// `error` is above 0.
std::size_t decade_of(double error) {
  const std::size_t exponent = std::bit_cast<std::uint64_t>(error) >> 52;
  if (exponent == 0) {
    std::size_t at = 0;
    while (error >= powers_of_ten()[at + 1]) ++at;
    return at;
  }
  const Binade& binade = binades()[exponent];
  return binade.decade + (error >= binade.next ? 1U : 0U);
}

// add(decade, how many) of the errors from the least one on. A decade at a time where there are
// few.
template <typename Add>
void for_each_decade(const double* error, std::uint64_t count, const RunSummary& summary,
                     Add&& add) {
  constexpr std::size_t kFew = 20;
  const std::size_t first = decade_of(summary.least_error);
  const std::size_t last = decade_of(summary.largest_error);
  if (last - first > kFew) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (error[i] > 0) add(decade_of(error[i]), 1);
    return;
  }
  // Each decade has the errors not below its beginning, less those of the next one. No error, not
  // even Inf, reaches NaN behind the last.
  for (std::size_t decade = first; decade <= last;) {
    AtLeast::Limits limits;
    for (std::size_t i = 0; i < limits.size(); ++i)
      limits[i] = decade + i == first  ? summary.least_error
                  : decade + i <= last ? powers_of_ten()[decade + i]
                                       : std::numeric_limits<double>::quiet_NaN();
    const AtLeast found = judge_runs().at_least(error, count, limits);
    for (std::size_t i = 0; i + 1 < limits.size() && decade <= last; ++i, ++decade)
      add(decade, found.count[i] - found.count[i + 1]);
  }
}

// The relative tolerances that are tried in pairs.
constexpr auto kRtols = std::to_array<double>({1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
                                               1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1});

// The part of the error that atol has to accept.
template <typename Real>
double least_atol(const JudgedRun<Real>& run, double rtol) {
  if constexpr (std::is_same_v<Real, double>)
    return compare_runs().least_atol(run.error, run.pairs.golden, run.pairs.values(), rtol);
  double least = 0;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i)
    if (!std::isnan(run.error[i]))
      least = std::max(
          least, left_to_accept(run.error[i], static_cast<double>(run.pairs.golden[i]), rtol));
  return least;
}

}  // namespace

struct ErrorCollector::Kept {
  std::uint64_t equal = 0;
  std::array<std::uint64_t, kDecades> count{};
  std::array<std::uint64_t, kDecades> mismatched{};
  std::array<double, kRtols.size()> atol{};  // that kRtols[i] leaves to be accepted
};

ErrorCollector::ErrorCollector() = default;
ErrorCollector::~ErrorCollector() = default;

void ErrorCollector::prepare(unsigned workers) { kept_.assign(workers, {}); }

template <typename Real>
void ErrorCollector::keep(Kept& kept, const JudgedRun<Real>& run) {
  const std::uint64_t weight = run.pairs.alike ? run.pairs.count : 1;
  const std::uint64_t size = run.pairs.values();
  const RunSummary& summary = run.summary;
  kept.equal += summary.equal * weight;
  const std::uint64_t differ = size - summary.equal - summary.special;
  if (differ > 0) {
    const bool all_refused = summary.refused == differ && summary.special == 0;
    for_each_decade(run.error, size, summary, [&](std::size_t decade, std::uint64_t count) {
      kept.count[decade] += count * weight;
      if (all_refused) kept.mismatched[decade] += count * weight;
    });
    if (!all_refused && summary.refused > 0)
      for_each_decade(run.refused, size, summary, [&](std::size_t decade, std::uint64_t count) {
        kept.mismatched[decade] += count * weight;
      });
  }
  for (std::size_t r = 0; r < kRtols.size(); ++r) {
    const double most = left_to_accept(summary.largest_error, summary.least_golden, kRtols[r]);
    if (most > kept.atol[r]) kept.atol[r] = std::max(kept.atol[r], least_atol(run, kRtols[r]));
  }
}

void ErrorCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  keep(kept_[worker], run);
}

void ErrorCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  keep(kept_[worker], run);
}

std::uint64_t ErrorCollector::equal() const {
  std::uint64_t equal = 0;
  for (const Kept& kept : kept_) equal += kept.equal;
  return equal;
}

std::vector<DecadeCount> ErrorCollector::decades() const {
  std::vector<DecadeCount> decades;
  for (std::size_t i = 0; i < kDecades; ++i) {
    DecadeCount sum{.decade = static_cast<int>(i) + kLeastDecade};
    for (const Kept& kept : kept_) {
      sum.count += kept.count[i];
      sum.mismatched += kept.mismatched[i];
    }
    if (sum.count > 0) decades.push_back(sum);
  }
  return decades;
}

std::vector<RequiredPair> ErrorCollector::required(std::optional<double> rtol) const {
  std::vector<RequiredPair> pairs;
  for (std::size_t r = 0; r < kRtols.size(); ++r) {
    double atol = 0;
    for (const Kept& kept : kept_) atol = std::max(atol, kept.atol[r]);
    if (!std::isfinite(atol) || atol == 0 || (rtol && kRtols[r] >= *rtol)) continue;
    pairs.push_back({kRtols[r], atol});
  }
  return pairs;
}

}  // namespace btf
