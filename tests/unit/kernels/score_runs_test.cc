// Runs scored in vectors, for every instruction set that this CPU has, against their pairs scored
// one by one.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compare/compare_runs.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMin = std::numeric_limits<double>::denorm_min();

double any_number(Random& random) {
  const double x = std::bit_cast<double>(random.next());
  return std::isfinite(x) ? x : 1.5;
}

double any_float(Random& random) {
  const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  return std::isfinite(x) ? static_cast<double>(x) : 1.5;
}

struct Kind {
  std::string name;
  // A pair by its place.
  std::function<std::pair<double, double>(std::uint64_t at, Random& random)> pair;
};

// Records in every chunk, in none, equal ones, at the ends of the range, and none that is finite.
std::vector<Kind> kinds() {
  const auto small = [](Random& random) { return static_cast<double>(random.below(64)) / 8; };
  return {
      {"near",
       [=](std::uint64_t, Random& r) {
         const double g = small(r);
         return std::pair{g + static_cast<double>(r.below(3)) * 0x1p-20, g};
       }},
      {"scaled",
       [=](std::uint64_t at, Random&) {
         const auto g = static_cast<double>(at);
         return std::pair{g * 1.25, g};
       }},
      {"growing",
       [](std::uint64_t at, Random&) { return std::pair{static_cast<double>(at * at), 3.0}; }},
      {"growing by less than a float",
       [](std::uint64_t at, Random&) {
         return std::pair{1 + static_cast<double>(at) * 0x1p-23, 1.0};
       }},
      {"zeros", [=](std::uint64_t at,
                    Random& r) { return std::pair{at % 700 == 600 ? small(r) : 0.0, 0.0}; }},
      {"integers",
       [](std::uint64_t, Random& r) {
         return std::pair{static_cast<double>(r.below(255)) - 127,
                          static_cast<double>(r.below(255)) - 127};
       }},
      {"halves",
       [](std::uint64_t, Random& r) {
         return std::pair{static_cast<double>(r.below(99)) / 2,
                          static_cast<double>(r.below(99)) / 2};
       }},
      {"subnormal",
       [](std::uint64_t, Random& r) {
         return std::pair{static_cast<double>(r.below(9)) * kMin,
                          static_cast<double>(r.below(9)) * kMin};
       }},
      {"float's subnormal",
       [](std::uint64_t, Random& r) {
         return std::pair{static_cast<double>(r.below(9)) * 0x1p-149,
                          -static_cast<double>(r.below(9)) * 0x1p-149};
       }},
      {"at a tolerance",  // and a float or less beside it
       [=](std::uint64_t at, Random& r) {
         const auto g = static_cast<double>(1 + r.below(1 << 20)) * 0x1p-20;
         const auto limit = static_cast<float>(g + (at % 2 == 0 ? g * 0x1p-10 + 0x1p-12 : g * .25));
         const float beside[] = {0, limit, limit + 1};
         return std::pair{static_cast<double>(std::nextafter(limit, beside[r.below(3)])), g};
       }},
      {"records of floats",  // each a float or less above the last one
       [=](std::uint64_t at, Random& r) {
         const double g = r.below(2) == 0 ? 1 : 0x1p-130;
         return std::pair{g * (1.5 + static_cast<double>(at / 8) * 0x1p-20), g};
       }},
      {"largest floats",
       [](std::uint64_t at, Random& r) {
         const double most = std::numeric_limits<float>::max();
         return std::pair{at % 2 == 0 ? most : -most, at % 3 == 0 ? -most : any_float(r)};
       }},
      {"any float", [](std::uint64_t, Random& r) { return std::pair{any_float(r), any_float(r)}; }},
      {"any double",
       [](std::uint64_t, Random& r) { return std::pair{any_number(r), any_number(r)}; }},
      {"ends of the range",
       [](std::uint64_t at, Random&) {
         const double most = std::numeric_limits<double>::max();
         return std::pair{at % 2 == 0 ? most : -most, at % 3 == 0 ? -most : 1.0};
       }},
      {"specials",
       [=](std::uint64_t, Random& r) {
         const std::vector<double> some{kNan, kInf, -kInf, 1, 2, small(r)};
         return std::pair{some[r.below(6)], some[r.below(6)]};
       }},
      {"one special",
       [=](std::uint64_t at, Random& r) {
         const double g = small(r);
         return std::pair{at == 900 ? kNan : g, at == 1500 ? -kInf : g};
       }},
  };
}

void check_equal(const btf::CompareScore& score, const btf::CompareScore& expected) {
  CHECK(score.compared == expected.compared);
  CHECK(score.mismatched == expected.mismatched);
  CHECK(score.special == expected.special);
  CHECK(score.max_abs == expected.max_abs);
  CHECK(score.max_rel == expected.max_rel);
  CHECK(score.max_ulp == expected.max_ulp);
  CHECK(score.least_atol == expected.least_atol);
  CHECK(score.least_rtol == expected.least_rtol);
  CHECK(score.nan.both == expected.nan.both);
  CHECK(score.nan.actual == expected.nan.actual);
  CHECK(score.nan.golden == expected.nan.golden);
  CHECK(score.inf.both == expected.inf.both);
  CHECK(score.inf.opposite == expected.inf.opposite);
  CHECK(score.inf.actual == expected.inf.actual);
  CHECK(score.inf.golden == expected.inf.golden);
  CHECK(score.tolerable == expected.tolerable);
}

// As Real, at an address that is a multiple of its size only.
template <typename Real>
btf::CompareScore scored(const std::vector<double>& actual, const std::vector<double>& golden,
                         const btf::Judge& judge) {
  std::vector<Real> a{0};
  std::vector<Real> g{0};
  for (const double x : actual) a.push_back(static_cast<Real>(x));
  for (const double x : golden) g.push_back(static_cast<Real>(x));
  btf::CompareScore score;
  btf::compare_run(a.data() + 1, g.data() + 1, actual.size(), judge, score);
  return score;
}

}  // namespace

TEST_CASE("score runs: every kind of run scores as its pairs do") {
  Random random(31);
  const std::vector<btf::StepGrid> grids{
      btf::StepGrid::integers(),        btf::StepGrid::integers(0.05),
      btf::StepGrid::floats(53, -1022), btf::StepGrid::floats(24, -126),
      btf::StepGrid::floats(11, -14),   btf::StepGrid::floats(8, -126),
      btf::StepGrid::floats(4, -6),     btf::StepGrid::floats(1, -127)};
  std::vector<btf::Tolerance> tolerances{{},
                                         {.rtol = 0x1p-10, .atol = 0x1p-12},
                                         {.ulp = 4},
                                         {.rtol = kInf},
                                         {.rtol = 0.25, .ulp = 1000}};
  tolerances.back().equal_nan = false;
  for (const Kind& kind : kinds()) {
    for (const std::uint64_t count : {1U, 2U, 7U, 65U, 1024U, 2500U}) {
      std::vector<double> actual;
      std::vector<double> golden;
      bool floats = true;
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto [a, g] = kind.pair(i, random);
        actual.push_back(a);
        golden.push_back(g);
        const auto is_float = [](double x) {
          return std::isnan(x) || std::isinf(x) ||
                 (std::abs(x) <= std::numeric_limits<float>::max() &&
                  static_cast<double>(static_cast<float>(x)) == x);
        };
        floats = floats && is_float(a) && is_float(g);
      }
      for (const btf::StepGrid& grid : grids)
        for (const btf::Tolerance& tolerance : tolerances) {
          btf::Judge judge = btf::judge_of(tolerance, btf::DType::float32, btf::DType::float32);
          judge.grid = grid;
          btf::CompareScore expected;
          for (std::uint64_t i = 0; i < count; ++i)
            btf::compare_many(actual[i], golden[i], 1, judge, expected);
          for (const btf::CpuLevel level : btf::test::cpu_levels()) {
            const btf::test::ForcedLevel forced(level);
            CAPTURE(kind.name, count, grid.integer, grid.precision, btf::cpu_level_name(level),
                    tolerance.ulp.value_or(0), tolerance.rtol.value_or(0));
            check_equal(scored<double>(actual, golden, judge), expected);
            if (floats) check_equal(scored<float>(actual, golden, judge), expected);
          }
        }
    }
  }
}

TEST_CASE("score runs: a score that knows a run sees no record in it, a lower one does") {
  Random random(32);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (int turn = 0; turn < 300; ++turn) {
      const std::uint64_t count = 1 + random.below(40);
      std::vector<float> actual;
      std::vector<float> golden;
      for (std::uint64_t i = 0; i < count; ++i) {
        golden.push_back(static_cast<float>(any_float(random)) * 0x1p-10F);
        actual.push_back(golden.back() * (1 + static_cast<float>(random.below(9)) * 0x1p-20F));
      }
      const btf::Judge judge =
          btf::judge_of({.rtol = 0x1p-19}, btf::DType::float32, btf::DType::float32);
      btf::CompareScore score;
      btf::compare_run(actual.data(), golden.data(), count, judge, score);
      const auto no_new_max = [&](const btf::CompareScore& known) {
        std::uint64_t refused = 0;
        const bool is_no_new_max = btf::score_runs<float>().no_new_max(
            actual.data(), golden.data(), count, judge, known, refused);
        if (is_no_new_max) CHECK(refused == score.mismatched);
        return is_no_new_max;
      };
      CAPTURE(btf::cpu_level_name(level), count);
      CHECK(no_new_max(score));
      if (score.max_ulp == 0) continue;
      btf::CompareScore lower = score;
      lower.max_abs = std::nextafter(score.max_abs, 0);
      CHECK_FALSE(no_new_max(lower));
      lower = score;
      lower.max_rel = std::nextafter(score.max_rel, 0);
      CHECK_FALSE(no_new_max(lower));
      lower = score;
      lower.least_rtol = std::nextafter(score.least_rtol, 0);
      CHECK_FALSE(no_new_max(lower));
      lower = score;
      lower.max_ulp -= 1;
      CHECK_FALSE(no_new_max(lower));
    }
  }
}
