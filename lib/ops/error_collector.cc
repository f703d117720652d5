// Errors by decade, and pairs of tolerances that would be enough.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "ops/pair_collectors.h"

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

// Of an error above 0; an Inf counts with the largest numbers.
std::size_t decade_of(double error) {
  const auto& powers = powers_of_ten();
  int exponent = 0;
  std::frexp(std::min(error, std::numeric_limits<double>::max()), &exponent);
  // log10(2) = 0.30103: one below at most.
  auto at = static_cast<std::size_t>(std::max(
      0, static_cast<int>(std::floor((exponent - 1) * 0.30102999566398114)) - kLeastDecade));
  while (at + 1 < kDecades && error >= powers[at + 1]) ++at;
  return at;
}

// The relative tolerances that are tried in pairs.
constexpr auto kRtols = std::to_array<double>({1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
                                               1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1});

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
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    const double error = run.error[i];
    if (std::isnan(error)) continue;
    if (error == 0) {
      kept.equal += weight;
      continue;
    }
    const std::size_t decade = decade_of(error);
    kept.count[decade] += weight;
    if (run.refused[i] != 0) kept.mismatched[decade] += weight;
    // The margin is more than accepting can lose to its roundings.
    const double least = error * (1 + 0x1p-50) + std::numeric_limits<double>::denorm_min();
    const double size = std::abs(static_cast<double>(run.pairs.golden[i]));
    for (std::size_t r = 0; r < kRtols.size(); ++r)
      kept.atol[r] = std::max(kept.atol[r], least - kRtols[r] * size);
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
