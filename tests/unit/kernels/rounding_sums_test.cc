// What rounding a run does, for every instruction set that this CPU has, against casts of single
// numbers by the reference.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "btf/dtype.h"
#include "fit/node_measure.h"
#include "kernels/number/number.h"
#include "kernels/scale/scale.h"
#include "kernels/stats/stats.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

double cast_there_and_back(DType to, double number) {
  const auto single = static_cast<float>(number);
  std::uint64_t code = 0;
  LossAccount account;
  quantize_run({DType::float32, to, {}}, number::from_double(1),
               reinterpret_cast<const std::byte*>(&single), reinterpret_cast<std::byte*>(&code), 1,
               account);
  return value_double(to, code);
}

// Floats of every size that is within the type's limit, halves between its numbers among them.
double some_number(const NarrowType& type, Random& random) {
  const std::uint64_t choice = random.below(8);
  if (choice == 0) return random.below(2) == 0 ? 0.0 : -0.0;
  const double sign = random.below(2) == 0 ? 1 : -1;
  const double part = static_cast<double>(random.below(1U << 12)) / 4096 + 1;
  const int least = std::ilogb(type.smallest()) - 2;
  const int most = std::ilogb(type.limit());
  const int at = least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least)));
  return sign * std::ldexp(part, std::max(at, -140));
}

void check_run(DType to, std::size_t count, Random& random) {
  const NarrowType type(to);
  std::vector<double> numbers(count);
  RoundingSums expected{.smallest = INFINITY};
  for (double& number : numbers) {
    number = some_number(type, random);
    const double rounded = cast_there_and_back(to, number);
    expected.largest = std::max(expected.largest, std::abs(number));
    if (number != 0) expected.smallest = std::min(expected.smallest, std::abs(number));
    expected.squares += number * number;
    expected.error_squares += (rounded - number) * (rounded - number);
    expected.lost += number != 0 && rounded == 0 ? 1 : 0;
  }
  double first = -1;
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    CAPTURE(info(to).name, count, level);
    const RoundingSums found = rounding_sums(type.rounding(), numbers.data(), count);
    CHECK(found.within);
    CHECK(found.largest == expected.largest);
    CHECK(found.smallest == expected.smallest);
    CHECK(found.lost == expected.lost);
    CHECK(std::abs(found.squares - expected.squares) <= 1e-12 * expected.squares);
    CHECK(std::abs(found.error_squares - expected.error_squares) <= 1e-12 * expected.error_squares);
    if (first < 0) first = found.error_squares;
    CHECK(std::bit_cast<std::uint64_t>(found.error_squares) == std::bit_cast<std::uint64_t>(first));
    for (const double odd : {2 * type.limit(), -HUGE_VAL, std::nan("")}) {
      if (count == 0) continue;
      std::vector<double> spoilt = numbers;
      spoilt[random.below(count)] = odd;
      CHECK_FALSE(rounding_sums(type.rounding(), spoilt.data(), count).within);
    }
  }
}

}  // namespace

TEST_CASE("rounding sums: those of single casts, the same bits at every level", "[fit]") {
  Random random(7);
  for (const DType to : {DType::float16, DType::bfloat16})
    for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 16U, 31U, 1000U})
      for (int turn = 0; turn < 20; ++turn) check_run(to, count, random);
}

}  // namespace btf::test
