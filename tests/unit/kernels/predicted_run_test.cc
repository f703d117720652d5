#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/stats/stats.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace {

// Often within some quarters of the share, or special.
double number_near(Random& random, double predicted, double share) {
  const double specials[] = {0.0, HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::max()};
  if (random.below(16) == 0) return specials[random.below(std::size(specials))];
  const double quarters = static_cast<double>(random.below(17)) / 4 - 2;
  const double number = predicted + quarters * share * predicted;
  return random.below(2) == 0 ? number : std::nextafter(number, predicted);
}

bool within(double from, double predicted, double seen, double share) {
  return std::isfinite(from) && std::isfinite(predicted) && std::isfinite(seen) &&
         std::isfinite(seen - predicted) &&
         std::abs(seen - predicted) <= share * std::abs(predicted);
}

}  // namespace

TEST_CASE("predicted numbers: of a run as of each, at every level") {
  Random random(1);
  for (const double share : {0.0, 0x1p-22, 0x1p-8})
    for (const std::uint64_t count : {1U, 3U, 63U, 64U, 65U, 1000U, 1024U}) {
      std::vector<double> from(count);
      std::vector<double> predicted(count);
      std::vector<double> seen(count);
      std::array<std::uint64_t, 1024 / 64> wanted{};
      for (std::uint64_t i = 0; i < count; ++i) {
        from[i] = number_near(random, static_cast<double>(random.below(1000)), share);
        predicted[i] = number_near(random, 1.05 * from[i], share);
        seen[i] = number_near(random, predicted[i], share);
        const bool yes = within(from[i], predicted[i], seen[i], share);
        wanted[i / 64] |= std::uint64_t{yes} << i % 64;
      }
      for (const btf::CpuLevel level : btf::test::cpu_levels()) {
        const btf::test::ForcedLevel forced(level);
        std::array<std::uint64_t, 1024 / 64> found{};
        btf::predicted_run({from.data(), predicted.data(), seen.data(), count}, share,
                           found.data());
        CAPTURE(btf::cpu_level_name(level), count, share);
        CHECK(found == wanted);
      }
    }
}
