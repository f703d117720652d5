// The arithmetic below diff(): steps, and what is kept from run to run.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "kernels/number/steps.h"
#include "support/cast_oracle.h"
#include "support/diff_pair.h"
#include "support/random_tensor.h"

using btf::DiffOptions;
using btf::DType;
using btf::TensorDiff;
using pairs::f64;
using pairs::random_code;
using pairs::tolerance;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kMin = std::numeric_limits<double>::denorm_min();

// The numbers of a float, ascending, -0 and 0 as one.
std::vector<long double> numbers_of(DType dtype) {
  std::vector<long double> numbers;
  for (std::uint64_t code = 0; code >> btf::info(dtype).bits == 0; ++code) {
    const long double value = btf::test::oracle_value(dtype, code);
    if (std::isfinite(value)) numbers.push_back(value);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

std::uint64_t place(const std::vector<long double>& numbers, long double value) {
  return static_cast<std::uint64_t>(std::ranges::lower_bound(numbers, value) - numbers.begin());
}

template <typename Real>
std::uint64_t steps(DType dtype, long double a, long double b) {
  return btf::steps_between(static_cast<Real>(a), static_cast<Real>(b),
                            btf::step_grid(dtype, dtype));
}

// Of a number that is not negative: the code of the nearest number of a float, of two the even one;
// behind the largest the numbers go on with the same significant bits.
std::uint64_t nearest(DType dtype, long double value) {
  const auto numbers = btf::test::oracle_magnitudes(dtype);
  std::uint64_t best = 0;
  for (std::uint64_t code = 1; code < numbers.size(); ++code) {
    const long double error = std::abs(value - numbers[code]);
    const long double least = std::abs(value - numbers[best]);
    if (error < least || (error == least && code % 2 == 0)) best = code;
  }
  return best;
}

constexpr DType kSmallFloats[] = {
    DType::float8_e4m3fn, DType::float8_e5m2,     DType::float8_e8m0fnu,
    DType::float4_e2m1fn, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz,
    DType::float8_e3m4,   DType::float8_e4m3,     DType::float8_e4m3b11fnuz};

}  // namespace

TEST_CASE("steps: every pair of codes of 8 bits") {
  for (const DType dtype : kSmallFloats) {
    CAPTURE(btf::info(dtype).name);
    const std::vector<long double> numbers = numbers_of(dtype);
    bool all = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        all = all && steps<double>(dtype, numbers[i], numbers[j]) == distance(i, j) &&
              steps<long double>(dtype, numbers[i], numbers[j]) == distance(i, j);
      }
    }
    CHECK(all);
  }
}

TEST_CASE("steps: codes of 16 bits") {
  Random random(1);
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    CAPTURE(btf::info(dtype).name);
    const std::vector<long double> numbers = numbers_of(dtype);
    for (int round = 0; round < 20000; ++round) {
      const std::size_t i = random.below(numbers.size());
      const std::size_t j = round % 2 == 0
                                ? random.below(numbers.size())
                                : std::min<std::size_t>(i + random.below(5), numbers.size() - 1);
      const std::uint64_t expected = place(numbers, numbers[i]) < place(numbers, numbers[j])
                                         ? place(numbers, numbers[j]) - place(numbers, numbers[i])
                                         : place(numbers, numbers[i]) - place(numbers, numbers[j]);
      if (steps<double>(dtype, numbers[i], numbers[j]) != expected ||
          steps<long double>(dtype, numbers[i], numbers[j]) != expected) {
        CAPTURE(numbers[i], numbers[j]);
        CHECK(steps<double>(dtype, numbers[i], numbers[j]) == expected);
        CHECK(steps<long double>(dtype, numbers[i], numbers[j]) == expected);
      }
    }
  }
}

TEST_CASE("steps: float32 and float64 by their codes") {
  Random random(2);
  const auto at = [](DType dtype, std::uint64_t code) {
    const unsigned bits = btf::info(dtype).bits;
    const std::uint64_t sign = 1ULL << (bits - 1);
    const auto magnitude = static_cast<std::int64_t>(code & (sign - 1));
    return (code & sign) != 0 ? -magnitude : magnitude;
  };
  for (const DType dtype : {DType::float32, DType::float64}) {
    int finite = 0;
    for (int round = 0; round < 20000; ++round) {
      const std::uint64_t a = random_code(dtype, random);
      const std::uint64_t b = round % 2 == 0 ? random_code(dtype, random) : a ^ random.below(16);
      const long double left = btf::test::oracle_value(dtype, a);
      const long double right = btf::test::oracle_value(dtype, b);
      if (!std::isfinite(left) || !std::isfinite(right)) continue;
      ++finite;
      const std::uint64_t expected =
          distance(static_cast<std::uint64_t>(at(dtype, a)) + (1ULL << 63),
                   static_cast<std::uint64_t>(at(dtype, b)) + (1ULL << 63));
      CAPTURE(a, b);
      if (steps<double>(dtype, left, right) != expected)
        CHECK(steps<double>(dtype, left, right) == expected);
      if (steps<long double>(dtype, left, right) != expected)
        CHECK(steps<long double>(dtype, left, right) == expected);
    }
    CHECK(finite > 15000);
  }
}

TEST_CASE("steps: what lies between two numbers is rounded, of two the even one") {
  Random random(3);
  for (const DType dtype : {DType::float8_e4m3fn, DType::float8_e5m2, DType::float4_e2m1fn,
                            DType::float8_e4m3fnuz, DType::float8_e5m2fnuz, DType::float8_e3m4,
                            DType::float8_e4m3, DType::float8_e4m3b11fnuz}) {
    const auto numbers = btf::test::oracle_magnitudes(dtype);
    CAPTURE(btf::info(dtype).name);
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
      for (const long double part : {0.0L, 0.25L, 0.4999L, 0.5L, 0.5001L, 0.75L}) {
        const long double value = numbers[i] + part * (numbers[i + 1] - numbers[i]);
        const auto rounded = static_cast<double>(value);
        const std::uint64_t expected = nearest(dtype, rounded);
        CAPTURE(rounded);
        CHECK(steps<double>(dtype, 0, rounded) == expected);
        CHECK(steps<long double>(dtype, 0, rounded) == expected);
        CHECK(steps<double>(dtype, 0, -rounded) == expected);
        CHECK(steps<double>(dtype, numbers[i], -rounded) == expected + i);
      }
    }
  }
}

TEST_CASE("steps: as long doubles as they are as doubles, of every type") {
  Random random(4);
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    CAPTURE(row.name);
    const btf::StepGrid grid = btf::step_grid(row.dtype, row.dtype);
    for (int round = 0; round < 4000; ++round) {
      const auto value = [&] {
        // Few significant bits, so that ties are met.
        const double mantissa = 1 + static_cast<double>(random.below(64)) / 64;
        const int exponent = static_cast<int>(random.below(round % 2 == 0 ? 20 : 300)) - 150 +
                             (round % 2 == 0 ? 145 : 0);
        const double magnitude = std::ldexp(random.below(20) == 0 ? 0 : mantissa, exponent);
        return random.below(2) == 0 ? magnitude : -magnitude;
      };
      const double a = value();
      const double b = value();
      const std::uint64_t expected =
          btf::steps_between(static_cast<long double>(a), static_cast<long double>(b), grid);
      if (btf::steps_between(a, b, grid) != expected) {
        CAPTURE(a, b);
        CHECK(btf::steps_between(a, b, grid) == expected);
      }
    }
  }
}

namespace {

// The same result whatever the order, and whatever stands in one run.
struct Summary {
  std::uint64_t mismatched = 0;
  double max_abs = 0;
  double max_rel = 0;
  std::uint64_t max_ulp = 0;
  std::optional<double> atol = 0;
  std::optional<double> rtol = 0;

  bool operator==(const Summary&) const = default;

  void add(const TensorDiff& diff) {
    mismatched += diff.mismatched;
    max_abs = std::max(max_abs, diff.max_abs);
    max_rel = std::max(max_rel, diff.max_rel);
    max_ulp = std::max(max_ulp, diff.max_ulp);
    const auto larger = [](std::optional<double>& least, const std::optional<double>& other) {
      if (!least || !other)
        least.reset();
      else
        least = std::max(*least, *other);
    };
    larger(atol, diff.required_atol);
    larger(rtol, diff.required_rtol);
  }
};

using DoublePairs = std::vector<std::pair<double, double>>;

Summary at_once(const DoublePairs& values, const DiffOptions& options) {
  std::vector<double> actual;
  std::vector<double> golden;
  for (const auto& [a, g] : values) {
    actual.push_back(a);
    golden.push_back(g);
  }
  Summary summary;
  summary.add(pairs::diff(f64(actual), f64(golden), options));
  return summary;
}

Summary one_by_one(const DoublePairs& values, const DiffOptions& options) {
  Summary summary;
  for (const auto& [a, g] : values) summary.add(pairs::diff(f64({a}), f64({g}), options));
  return summary;
}

// Both in a run of their own.
DoublePairs in_two_runs(std::pair<double, double> first, std::pair<double, double> second) {
  DoublePairs values(2048, {1, 1});
  values[5] = first;
  values[1500] = second;
  return values;
}

}  // namespace

TEST_CASE("diff: what a later run finds does not depend on the runs before it") {
  DiffOptions loose = tolerance(0.5, 0);
  loose.details = false;
  // The relative error of a subnormal pair, after a slightly smaller one that is normal.
  const std::pair<double, double> third{2 * kMin, 3 * kMin};
  const std::pair<double, double> normal{1.3, 1};
  for (const auto& values : {in_two_runs(normal, third), in_two_runs(third, normal)})
    CHECK(at_once(values, loose) == one_by_one(values, loose));
  // An rtol of Inf allows nothing where golden is 0, even after a relative error of Inf.
  DiffOptions infinite = tolerance(kInf, 0);
  infinite.details = false;
  for (const auto& values : {in_two_runs({1e308, 1e-308}, {1, 0}), in_two_runs({1, 0}, {2, 0})})
    CHECK(at_once(values, infinite) == one_by_one(values, infinite));
  // Error and threshold both beyond the largest double, after another such error.
  DiffOptions large = tolerance(2, 0);
  large.details = false;
  const DoublePairs huge = in_two_runs({kMax, -kMax}, {kMax, -0.51 * kMax});
  CHECK(at_once(huge, large).mismatched == 1);
  CHECK(at_once(huge, large) == one_by_one(huge, large));
}

TEST_CASE("diff: the runs add up to what the pairs are by themselves") {
  Random random(5);
  const double scales[] = {kMin, 1e-310, 1e-300, 1e-20, 1, 1e20, 1e300, kMax / 4};
  const double rtols[] = {0, kMin, 1e-9, 0.3, 1, 2, 1e300, kInf};
  const double atols[] = {0, kMin, 1e-9, 1, 1e300, kMax, kInf};
  for (int round = 0; round < 60; ++round) {
    DoublePairs values;
    for (int i = 0; i < 2500; ++i) {
      const double scale = scales[random.below(round % 2 == 0 ? 3 : 8)];
      const auto value = [&] {
        const double part = static_cast<double>(random.below(9)) - 4;
        return random.below(3) == 0 ? part * scale : part / 4 * scale;
      };
      const double golden = value();
      values.emplace_back(random.below(4) == 0 ? value() : golden, golden);
    }
    DiffOptions options = tolerance(rtols[random.below(8)], atols[random.below(7)]);
    if (random.below(4) == 0) options.tolerance = {.ulp = random.below(100)};
    options.details = false;
    CAPTURE(options.tolerance.rtol.value_or(-1), options.tolerance.atol.value_or(-1));
    CHECK(at_once(values, options) == one_by_one(values, options));
  }
}

TEST_CASE("diff: 64-bit integers up to 2^52 compare as doubles, whatever stands beside them") {
  // 0.3 * 10 is 3 as doubles multiply, and NumPy does; the double 0.3 is less than 3 / 10.
  const auto mismatches = [](std::uint64_t neighbour) {
    bytes::Words golden(2000, 10);
    bytes::Words actual(2000, 13);
    golden[700] = actual[700] = neighbour;
    actual[1500] = 14;
    const btf::TensorDiff diff =
        pairs::diff(pairs::line(btf::DType::int64, actual), pairs::line(btf::DType::int64, golden),
                    pairs::tolerance(0.3, 0));
    CHECK(diff.max_abs == 4);
    CHECK(diff.max_rel == 0.4);
    CHECK(diff.required_rtol == 0.4);
    return diff.mismatched;
  };
  CHECK(mismatches(10) == 1);
  CHECK(mismatches(1ULL << 53) == 1);
  CHECK(mismatches((1ULL << 62) + 1) == 1);
}

TEST_CASE("diff: 64-bit integers beyond 2^52 are told apart to the last digit") {
  for (const std::uint64_t large : {(1ULL << 52) + 1, (1ULL << 53) + 1, (1ULL << 62) + 1}) {
    const btf::TensorDiff diff =
        pairs::diff(pairs::line(btf::DType::int64, {1, large, 3}),
                    pairs::line(btf::DType::int64, {1, large - 1, 3}), pairs::no_hints());
    CAPTURE(large);
    CHECK(diff.mismatched == 1);
    CHECK(diff.max_abs == 1);
    CHECK(diff.max_ulp == 1);
  }
}
