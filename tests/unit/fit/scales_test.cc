// Magnitudes, the scale of the least squares, and channels, against plain loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "btf/dtype.h"
#include "fit/scale_search.h"
#include "fit/scaled_tensor.h"

namespace btf::test {
namespace {

constexpr double kBinWidth = 1.0 / 512;

std::vector<double> normal(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> draw(0, 2);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = draw(random) < 2.5F ? draw(random) : 0;
  return numbers;
}

Magnitudes magnitudes_of(const std::vector<double>& numbers) {
  Magnitudes magnitudes;
  for (std::size_t at = 0; at < numbers.size(); at += 1000)
    magnitudes.take(
        std::span(numbers).subspan(at, std::min<std::size_t>(1000, numbers.size() - at)));
  magnitudes.sort();
  return magnitudes;
}

double squares_of_errors(const std::vector<double>& numbers, double scale, double most) {
  double squares = 0;
  for (const double x : numbers) {
    const double code = std::min(std::nearbyint(std::abs(x) / scale), most);
    squares += (code * scale - std::abs(x)) * (code * scale - std::abs(x));
  }
  return squares;
}

}  // namespace

TEST_CASE("magnitudes: parts and sums of few numbers and of many", "[fit]") {
  for (const std::size_t count : {1U, 2U, 100U, 4096U, 4097U, 30000U}) {
    CAPTURE(count);
    const std::vector<double> numbers = normal(count, count);
    const Magnitudes magnitudes = magnitudes_of(numbers);
    std::vector<double> sorted;
    for (const double x : numbers) sorted.push_back(std::abs(x));
    std::ranges::sort(sorted);
    const double slack = count <= 4096 ? 0 : kBinWidth;
    CHECK(magnitudes.count() == count);
    CHECK(magnitudes.zeros() == static_cast<std::uint64_t>(std::ranges::count(sorted, 0.0)));
    CHECK(magnitudes.largest() == sorted.back());
    for (const double part : {.1, .5, .9, .999, 1.0}) {
      const double expected =
          sorted[static_cast<std::size_t>(std::ceil(part * static_cast<double>(count))) - 1];
      CHECK(magnitudes.at_part(part) >= expected);
      CHECK(magnitudes.at_part(part) <= expected * (1 + slack));
    }
    for (const double limit : {0.0, .01, 1.0, 3.0, 1e30}) {
      Magnitudes::Sums expected;
      for (const double x : sorted) {
        if (x > limit) continue;
        expected.count += 1;
        expected.sum += x;
        expected.squares += x * x;
      }
      const Magnitudes::Sums found = magnitudes.up_to(limit);
      const double room = slack * static_cast<double>(count) / 10;
      CHECK(std::abs(found.count - expected.count) <= room);
      CHECK(std::abs(found.sum - expected.sum) <= 1e-12 * expected.sum + room);
      CHECK(std::abs(found.squares - expected.squares) <= 1e-12 * expected.squares + room);
    }
  }
}

TEST_CASE("magnitudes: what is no number is counted and left out", "[fit]") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Magnitudes magnitudes = magnitudes_of({1, std::nan(""), -kInf, 0, -3, kInf});
  CHECK(magnitudes.count() == 3);
  CHECK(magnitudes.nan() == 1);
  CHECK(magnitudes.infinite() == 2);
  CHECK(magnitudes.zeros() == 1);
  CHECK(magnitudes.largest() == 3);
  CHECK(magnitudes.squares() == 10);
  CHECK(magnitudes.at_part(1.0 / 3) == 0);
  const Magnitudes none = magnitudes_of({});
  CHECK(none.count() == 0);
  CHECK(none.largest() == 0);
  CHECK(none.up_to(1).count == 0);
}

TEST_CASE("magnitudes: numbers beyond float32 have a bin", "[fit]") {
  std::vector<double> numbers(5000, 1e300);
  numbers[7] = 1e-300;
  const Magnitudes magnitudes = magnitudes_of(numbers);
  CHECK(magnitudes.largest() == 1e300);
  CHECK(magnitudes.at_part(1) == 1e300);
  CHECK(magnitudes.up_to(1e299).count <= 5000);
  CHECK(magnitudes.up_to(1e301).count == 5000);
  CHECK(std::isfinite(magnitudes.up_to(1e301).squares));
}

TEST_CASE("scale search: errors as a loop adds them up, and no scale that is better", "[fit]") {
  const CodeGrid grid(DType::int8);
  CHECK(grid.largest() == 127);
  CHECK(CodeGrid(DType::float8_e4m3fn).largest() == 448);
  for (const std::size_t count : {3U, 500U, 50000U}) {
    CAPTURE(count);
    const std::vector<double> numbers = normal(count, 7 * count);
    const Magnitudes magnitudes = magnitudes_of(numbers);
    const double slack = count <= 4096 ? 1e-9 : .02;
    for (const double scale : {.001, .02, .06, 1.0}) {
      const double expected = squares_of_errors(numbers, scale, 127);
      CHECK(std::abs(grid.attempt(magnitudes, scale).squares - expected) <= slack * expected);
    }
    const double found = squares_of_errors(numbers, least_squares_scale(magnitudes, grid), 127);
    const double top = magnitudes.largest() / 127;
    for (int step = -16; step < 160; ++step)
      CHECK(found <= 1.03 * squares_of_errors(numbers, top * std::exp2(-step / 16.0), 127));
  }
}

TEST_CASE("channels: dims by axis, and maxima by channel", "[fit]") {
  CHECK(channel_dim(1, 4) == 1U);
  CHECK(channel_dim(-1, 3) == 2U);
  CHECK(channel_dim(-2, 2) == 0U);
  CHECK(!channel_dim(1, 1));
  CHECK(!channel_dim(-3, 2));
  CHECK(!channel_dim(std::nullopt, 4));

  const Dims dims{2, 3, 5};
  std::vector<double> numbers(30);
  for (std::size_t i = 0; i < 30; ++i) numbers[i] = static_cast<double>(i) - 20;
  for (const std::int64_t axis : {1, 2}) {
    CAPTURE(axis);
    ChannelMaxima maxima;
    maxima.begin({8, 3, 5}, axis);
    for (std::size_t at = 0; at < 30; at += 7)
      maxima.take(at, std::span(numbers).subspan(at, std::min<std::size_t>(7, 30 - at)));
    std::vector<double> expected(axis == 1 ? 3 : 5);
    for (std::size_t i = 0; i < 30; ++i) {
      double& most = expected[axis == 1 ? i / 5 % 3 : i % 5];
      most = std::max(most, std::abs(numbers[i]));
    }
    REQUIRE(maxima.known());
    CHECK(std::vector(maxima.maxima().begin(), maxima.maxima().end()) == expected);
    CHECK(maxima.maxima()[maxima.highest()] == std::ranges::max(expected));
  }
  ChannelMaxima mixed;
  mixed.begin({8, 3, 5}, 1);
  mixed.begin({8, 4, 5}, 1);
  CHECK(!mixed.known());
  ChannelMaxima narrow;
  narrow.begin({1, 1000}, 1);
  CHECK(!narrow.known());
}

}  // namespace btf::test
