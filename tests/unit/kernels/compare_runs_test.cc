// The loops of diff for every instruction set that this CPU has, against plain scalar statements.
#include "kernels/compare/compare_runs.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Run {
  std::vector<double> actual;
  std::vector<double> golden;
};

Run random_run(std::uint64_t count, bool specials, Random& random) {
  Run run;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = [&] {
      const double x = std::bit_cast<double>(random.next());
      return std::isfinite(x) ? x : 1.5;
    };
    double golden = random.below(3) == 0 ? number() : static_cast<double>(random.below(100)) / 8;
    double actual = golden;
    if (random.below(2) == 0) actual += static_cast<double>(random.below(9)) * 0x1p-12 * golden;
    if (random.below(20) == 0) actual = number();
    if (specials && random.below(30) == 0) actual = kNan;
    if (specials && random.below(30) == 0) golden = std::numeric_limits<double>::infinity();
    run.actual.push_back(actual);
    run.golden.push_back(golden);
  }
  return run;
}

}  // namespace

TEST_CASE("compare runs: every instruction set, every count, misaligned") {
  Random random(21);
  const std::vector<btf::StepGrid> grids{
      btf::StepGrid::integers(),        btf::StepGrid::integers(0.05),
      btf::StepGrid::floats(53, -1022), btf::StepGrid::floats(24, -126),
      btf::StepGrid::floats(11, -14),   btf::StepGrid::floats(1, -127)};
  const btf::CompareRuns& plain_runs = [] {
    const btf::test::ForcedLevel forced(btf::kPlain);
    return std::ref(btf::compare_runs());
  }();
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    const btf::CompareRuns& runs = btf::compare_runs();
    const btf::JudgeRuns& judges = btf::judge_runs();
    for (std::uint64_t count = 0; count < 70; ++count) {
      for (const btf::StepGrid& grid : grids) {
        const bool specials = random.below(2) == 0;
        Run run = random_run(count + 1, specials, random);
        const double* actual = run.actual.data() + 1;
        const double* golden = run.golden.data() + 1;
        btf::Judge judge{.rtol = 0x1p-11, .atol = 0x1p-9, .grid = grid};
        if (random.below(3) == 0) judge.ulp = random.below(1000);
        CAPTURE(btf::cpu_level_name(level), count, grid.precision, grid.integer, judge.ulp);

        std::vector<double> error(count + 2, 77);
        std::vector<double> refused(count + 2, 77);
        const btf::RunSummary summary =
            judges.judge(actual, golden, count, judge, error.data() + 1, refused.data() + 1);
        std::uint64_t refusals = 0;
        std::uint64_t special = 0;
        std::uint64_t equal = 0;
        double largest = 0;
        double least = std::numeric_limits<double>::infinity();
        double relative = 0;
        double left = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
          const bool finite = std::isfinite(actual[i]) && std::isfinite(golden[i]);
          const bool accepted = btf::accepts(actual[i], golden[i], judge);
          CHECK((refused[i + 1] == 0) == accepted);
          CHECK(std::isnan(error[i + 1]) == !finite);
          CHECK_FALSE(std::abs(golden[i]) < summary.least_golden);
          refusals += accepted ? 0 : 1;
          special += finite ? 0 : 1;
          if (!finite) continue;
          const double e = std::abs(actual[i] - golden[i]);
          CHECK(error[i + 1] == e);
          if (!accepted) CHECK(refused[i + 1] == e);
          largest = std::max(largest, e);
          equal += e == 0 ? 1 : 0;
          if (e > 0) least = std::min(least, e);
          left = std::max(left, e * (1 + 0x1p-50) - 0x1p-13 * std::abs(golden[i]));
          if (!accepted) relative = std::max(relative, e / std::abs(golden[i]));
        }
        CHECK(summary.refused == refusals);
        CHECK(summary.special == special);
        CHECK(summary.equal == equal);
        CHECK(summary.largest_error == largest);
        CHECK(summary.least_error == least);
        const btf::AtLeast::Limits limits{0x1p-12, 0.5, largest, least};
        const btf::AtLeast reached = judges.at_least(error.data() + 1, count, limits);
        for (std::size_t i = 0; i < limits.size(); ++i) {
          const auto reaches = [&](double e) { return e >= limits[i]; };
          CHECK(reached.count[i] == static_cast<std::uint64_t>(std::count_if(
                                        error.begin() + 1, error.end() - 1, reaches)));
        }
        CHECK(runs.least_atol(error.data() + 1, golden, count, 0x1p-13) == left);
        for (const double bar : {0.0, relative / 2, relative})
          if (std::isfinite(bar))
            CHECK(judges.largest_relative(refused.data() + 1, golden, count, bar) == relative);
        if (relative > 0 && std::isfinite(relative))
          CHECK(judges.largest_relative(refused.data() + 1, golden, count, relative * 1.01) == 0);
        CHECK((error.front() == 77 && error.back() == 77));
        CHECK((refused.front() == 77 && refused.back() == 77));

        if (special > 0) continue;
        const btf::RunSums sums = runs.sums(actual, golden, count);
        const btf::RunSums plain = plain_runs.sums(actual, golden, count);
        CHECK(std::bit_cast<std::uint64_t>(sums.error2) ==
              std::bit_cast<std::uint64_t>(plain.error2));
        CHECK(std::bit_cast<std::uint64_t>(sums.product) ==
              std::bit_cast<std::uint64_t>(plain.product));
        CHECK(std::bit_cast<std::uint64_t>(sums.golden2) ==
              std::bit_cast<std::uint64_t>(plain.golden2));
        CHECK(std::bit_cast<std::uint64_t>(sums.actual2) ==
              std::bit_cast<std::uint64_t>(plain.actual2));
        CHECK(sums.largest == plain.largest);
      }
    }
  }
}

TEST_CASE("judge runs: pairs at one position of a grid") {
  Random random(22);
  int same_runs = 0;
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (const btf::StepGrid& grid :
         {btf::StepGrid::floats(53, -1022), btf::StepGrid::floats(24, -126),
          btf::StepGrid::floats(11, -14), btf::StepGrid::floats(8, -126)})
      for (std::uint64_t count = 0; count < 70; ++count) {
        Run run = random_run(count + 1, random.below(4) == 0, random);
        run.golden = run.actual;
        const double nearly =
            1 + std::ldexp(1.0, -grid.precision - static_cast<int>(random.below(9)));
        for (double& x : run.golden) x *= random.below(9) == 0 ? nearly : 1;
        const double* actual = run.actual.data() + 1;
        const double* golden = run.golden.data() + 1;
        bool same = true;
        for (std::uint64_t i = 0; i < count; ++i)
          same = same && std::isfinite(actual[i]) && std::isfinite(golden[i]) &&
                 btf::steps_between(actual[i], golden[i], grid) == 0;
        CAPTURE(btf::cpu_level_name(level), count, grid.precision);
        CHECK(btf::judge_runs().same_steps(actual, golden, count, grid) == same);
        same_runs += same && count > 0 ? 1 : 0;
      }
  }
  CHECK(same_runs > 100);
}

TEST_CASE("compare runs: magnitudes within a limit") {
  Random random(23);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (std::uint64_t count = 1; count < 70; ++count) {
      Run run = random_run(count + 1, false, random);
      const double* values = run.golden.data() + 1;
      double most = 0;
      for (std::uint64_t i = 0; i < count; ++i) most = std::max(most, std::abs(values[i]));
      CAPTURE(btf::cpu_level_name(level), count);
      CHECK(btf::compare_runs().within(values, count, most));
      if (most > 0) CHECK_FALSE(btf::compare_runs().within(values, count, std::nextafter(most, 0)));
      run.golden[1 + random.below(count)] = std::numeric_limits<double>::quiet_NaN();
      CHECK_FALSE(btf::compare_runs().within(values, count, most));
    }
  }
}

TEST_CASE("judge runs: ranks of numbers, across 2^32 too") {
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (const std::uint64_t first : {0ULL, 5ULL, (1ULL << 32) - 40, (7ULL << 32) + 3})
      for (std::uint64_t count = 1; count < 70; ++count) {
        std::uint32_t largest = 0;
        for (std::uint64_t i = 0; i < count; ++i)
          largest = std::max(largest, btf::scattered(first + i));
        CAPTURE(btf::cpu_level_name(level), first, count);
        CHECK(btf::judge_runs().any_scattered(first, count, largest));
        CHECK_FALSE(btf::judge_runs().any_scattered(first, count, largest + 1));
      }
  }
}
