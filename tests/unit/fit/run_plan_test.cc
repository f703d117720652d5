// What a plan takes, against a plain count of runs.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "btf/error.h"
#include "fit/node_measure.h"

namespace {

using btf::kFitRun;
using btf::LossyRuns;
using btf::RunPlan;

std::map<std::uint64_t, double> taken(const RunPlan& plan) {
  std::map<std::uint64_t, double> found;
  const btf::Status done = plan.visit([&](std::uint64_t first, double weight) -> btf::Status {
    CHECK(found.emplace(first, weight).second);
    return {};
  });
  CHECK(done);
  return found;
}

double sum(const std::map<std::uint64_t, double>& runs) {
  double all = 0;
  for (const auto& [first, weight] : runs) all += weight;
  return all;
}

RunPlan::IsLossy any_of(const LossyRuns& runs) {
  return [&](std::uint64_t begin, std::uint64_t end) { return runs.any(begin, end); };
}

}  // namespace

TEST_CASE("fit: all runs of a small result are taken", "[fit]") {
  for (const std::uint64_t numbers : {0ULL, 1ULL, 4096ULL, 4097ULL, 262144ULL}) {
    const auto runs = taken(RunPlan(numbers, kFitRun, 1, {}));
    CHECK(runs.size() == (numbers + kFitRun - 1) / kFitRun);
    for (const auto& [first, weight] : runs) CHECK(weight == 1);
  }
}

TEST_CASE("fit: runs with a number that vanishes are all taken, of others some stand for all",
          "[fit]") {
  std::mt19937 random(7);
  for (const std::uint64_t numbers : {std::uint64_t{40'000'000}, std::uint64_t{3'000'001}}) {
    LossyRuns one(numbers);
    LossyRuns other(numbers);
    std::set<std::uint64_t> lossy;
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t element = random() % numbers;
      (i % 2 == 0 ? one : other).mark(element);
      lossy.insert(element / kFitRun * kFitRun);
    }
    const auto runs = taken(RunPlan(numbers, kFitRun, 1, {any_of(one), any_of(other)}));
    for (const std::uint64_t first : lossy) {
      REQUIRE(runs.contains(first));
      CHECK(runs.at(first) == 1);
    }
    const std::uint64_t all = (numbers + kFitRun - 1) / kFitRun;
    CHECK(runs.size() < lossy.size() + 70);
    CHECK(sum(runs) == Approx(static_cast<double>(all)).epsilon(1e-9));
  }
}

TEST_CASE("fit: where numbers vanish everywhere, a part is taken", "[fit]") {
  constexpr std::uint64_t kNumbers = 1ULL << 26;
  LossyRuns lossy(kNumbers);
  for (std::uint64_t first = 0; first < kNumbers; first += kFitRun) lossy.mark(first);
  const auto runs = taken(RunPlan(kNumbers, kFitRun, 1, {any_of(lossy)}));
  CHECK(runs.size() == 1024);
  CHECK(sum(runs) == static_cast<double>(kNumbers / kFitRun));
}

TEST_CASE("fit: marks of many numbers are of longer runs", "[fit]") {
  constexpr std::uint64_t kNumbers = 1ULL << 34;
  LossyRuns lossy(kNumbers);
  lossy.mark(kNumbers - 1);
  CHECK(lossy.known());
  CHECK(lossy.any(kNumbers - 2, kNumbers));
  CHECK(lossy.any(kNumbers - 10 * kFitRun, kNumbers - 9 * kFitRun));
  CHECK_FALSE(lossy.any(0, kNumbers / 2));
  CHECK_FALSE(LossyRuns().known());
}
