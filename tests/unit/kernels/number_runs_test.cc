#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/stats/stats.h"
#include "support/forced_level.h"
#include "support/quad.h"
#include "support/random_tensor.h"

using btf::IntegerSums;
using btf::NumberSums;
using btf::Squares;
using btf::test::ForcedLevel;

namespace {

__extension__ using Wide = unsigned __int128;

double number(Random& random, int spread) {
  const double sign = random.below(2) == 0 ? 1 : -1;
  const double mantissa = 1 + static_cast<double>(random.next() >> 12) * 0x1p-52;
  if (random.below(8) == 0) return sign * 0.0;
  return sign * std::ldexp(mantissa, static_cast<int>(random.below(2 * spread + 1)) - spread);
}

const std::vector<std::uint64_t> kCounts{1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 100, 1000, 1023, 1024};

double magnitude(Quad x) { return std::abs(static_cast<double>(x)); }

}  // namespace

TEST_CASE("number runs: sums against one loop in 113 bits, the same bits at every level") {
  Random random(1);
  for (const int spread : {0, 3, 30, 300})
    for (const std::uint64_t count : kCounts) {
      std::vector<double> values(count);
      for (double& value : values) value = number(random, spread);
      const double limit = std::ldexp(1.0, -spread / 2);
      const double centre = values[random.below(count)];
      Quad sum = 0;
      Quad all = 0;
      Quad squares = 0;
      std::uint64_t small = 0;
      std::uint64_t zeros = 0;
      for (const double value : values) {
        sum += value;
        all += std::abs(value);
        squares += (Quad{value} - centre) * (Quad{value} - centre);
        small += std::abs(value) < limit ? 1 : 0;
        zeros += value == 0 ? 1 : 0;
      }
      CAPTURE(spread, count);
      NumberSums first;
      Squares first_squares;
      for (const btf::CpuLevel level : btf::test::cpu_levels()) {
        CAPTURE(btf::cpu_level_name(level));
        const ForcedLevel forced(level);
        const NumberSums sums = btf::number_runs().sums(values.data(), count, limit);
        CHECK(sums.least == *std::ranges::min_element(values));
        CHECK(sums.most == *std::ranges::max_element(values));
        CHECK(sums.small == small);
        CHECK(btf::number_runs().zeros(values.data(), count) == zeros);
        CHECK(magnitude(Quad{sums.sum} + sums.rest - sum) <= 0x1p-90 * magnitude(all));
        const Squares found = btf::number_runs().squares(values.data(), count, centre);
        CHECK(magnitude(Quad{found.sum} + found.rest - squares) <= 0x1p-51 * magnitude(squares));
        if (level == btf::kPlain) {
          first = sums;
          first_squares = found;
        }
        CHECK(std::bit_cast<std::uint64_t>(sums.sum) == std::bit_cast<std::uint64_t>(first.sum));
        CHECK(std::bit_cast<std::uint64_t>(sums.rest) == std::bit_cast<std::uint64_t>(first.rest));
        CHECK(found.sum == first_squares.sum);
        CHECK(found.rest == first_squares.rest);
      }
    }
}

TEST_CASE("number runs: what is not finite shows in the sum, wherever it stands") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const ForcedLevel forced(level);
    for (const std::uint64_t count : {1U, 8U, 13U})
      for (std::uint64_t at = 0; at < count; ++at)
        for (const double special : {kInf, -kInf, std::numeric_limits<double>::quiet_NaN()}) {
          std::vector<double> values(count, 1.5);
          values[at] = special;
          values[count - 1 - at] = -special;
          CHECK_FALSE(std::isfinite(btf::number_runs().sums(values.data(), count, 1).sum));
        }
    const std::vector<double> large{kMax, -kMax, kMax, kMax};
    const NumberSums sums = btf::number_runs().sums(large.data(), large.size(), 1);
    CHECK_FALSE(std::isfinite(sums.sum));
    CHECK(sums.least == -kMax);
    CHECK(sums.most == kMax);
  }
}

TEST_CASE("number runs: 64-bit integers exactly") {
  Random random(2);
  for (const std::uint64_t turn : {std::uint64_t{0}, std::uint64_t{1} << 63})
    for (const std::uint64_t mask : {~0ULL, 0xffULL, 0xffffffffffULL})
      for (const std::uint64_t count : kCounts) {
        std::vector<std::uint64_t> values(count);
        for (std::uint64_t& value : values)
          value = random.below(8) == 0 ? 0 : turn ^ (random.next() & mask);
        Wide sum = 0;
        std::uint64_t least = ~0ULL;
        std::uint64_t most = 0;
        std::uint64_t zeros = 0;
        for (const std::uint64_t value : values) {
          sum += value ^ turn;
          least = std::min(least, value ^ turn);
          most = std::max(most, value ^ turn);
          zeros += value == 0 ? 1 : 0;
        }
        const auto centre = static_cast<std::uint64_t>(sum / count);
        Quad squares = 0;
        for (const std::uint64_t value : values) {
          const Quad away = Quad(value ^ turn) - Quad(centre);
          squares += away * away;
        }
        CAPTURE(turn, mask, count);
        Squares first;
        for (const btf::CpuLevel level : btf::test::cpu_levels()) {
          CAPTURE(btf::cpu_level_name(level));
          const ForcedLevel forced(level);
          const IntegerSums sums = btf::number_runs().integer_sums(values.data(), count, turn);
          CHECK((Wide{sums.high} << 32) + sums.low == sum);
          CHECK(sums.least == least);
          CHECK(sums.most == most);
          CHECK(sums.zeros == zeros);
          const Squares found =
              btf::number_runs().integer_squares(values.data(), count, turn, centre);
          CHECK(magnitude(Quad{found.sum} + found.rest - squares) <= 0x1p-51 * magnitude(squares));
          if (level == btf::kPlain) first = found;
          CHECK(found.sum == first.sum);
          CHECK(found.rest == first.rest);
        }
      }
}

TEST_CASE("number runs: the first above a limit, at every level") {
  Random random(3);
  const auto check = [&](auto limit) {
    using Real = decltype(limit);
    for (const std::uint64_t count : {0U, 1U, 7U, 16U, 33U, 200U})
      for (int turn = 0; turn < 50; ++turn) {
        std::vector<Real> values(count);
        for (Real& value : values) {
          value = limit - static_cast<Real>(random.below(3));
          if (random.below(40) == 0) value = limit + 1;
          if (random.below(80) == 0) value = std::numeric_limits<Real>::quiet_NaN();
        }
        std::uint64_t wanted = 0;
        while (wanted < count && !(values[wanted] > limit) && !std::isnan(values[wanted])) ++wanted;
        for (const btf::CpuLevel level : btf::test::cpu_levels()) {
          const ForcedLevel forced(level);
          CHECK(btf::above_run(values.data(), count, limit) == wanted);
        }
      }
  };
  check(1.5F);
  check(-2.0);
}
