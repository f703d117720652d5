#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "diff/hints/evidence/agreements.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/number/widen.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

using btf::DType;
using btf::hints::Agreement;
using btf::hints::PairBits;

namespace {

// Two numbers that are far apart, or nearly the same to this grid.
std::pair<double, double> pair_of(Random& random, const btf::StepGrid& grid) {
  const double specials[] = {0.0,
                             -0.0,
                             0.5,
                             1.5,
                             HUGE_VAL,
                             -HUGE_VAL,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::lowest(),
                             std::numeric_limits<double>::denorm_min(),
                             std::ldexp(1.0, grid.least_exponent),
                             std::ldexp(1.0, grid.least_exponent - grid.precision)};
  const auto number = [&] {
    if (random.below(8) == 0) return specials[random.below(std::size(specials))];
    const int spread = random.below(2) == 0 ? 4 : 300;
    const double mantissa = 1 + static_cast<double>(random.below(1U << 20)) * 0x1p-20;
    const int exponent = static_cast<int>(random.below(2 * spread)) - spread;
    return (random.below(2) == 0 ? -1 : 1) * std::ldexp(mantissa, exponent);
  };
  const double golden = number();
  if (random.below(4) == 0) return {number(), golden};
  // About a step away: halves and quarters of it make ties and their neighbours.
  const double step =
      grid.integer
          ? grid.unit
          : std::ldexp(1.0, std::max(std::isfinite(golden) && golden != 0 ? std::ilogb(golden)
                                                                          : grid.least_exponent,
                                     grid.least_exponent) -
                                grid.precision + 1);
  double actual = golden + static_cast<double>(random.below(17)) * step / 8 - step;
  if (random.below(3) == 0) actual = std::nextafter(actual, golden);
  return {actual, golden};
}

}  // namespace

TEST_CASE("agreement: of many pairs at once as of each, at every level") {
  Random random(1);
  const std::pair<DType, DType> dtypes[] = {{DType::float32, DType::float32},
                                            {DType::float64, DType::float64},
                                            {DType::float16, DType::float32},
                                            {DType::bfloat16, DType::bfloat16},
                                            {DType::float8_e4m3fn, DType::float32},
                                            {DType::float8_e8m0fnu, DType::float32},
                                            {DType::int8, DType::float32},
                                            {DType::int32, DType::int32},
                                            {DType::uint8, DType::int16}};
  const btf::Tolerance tolerances[] = {
      {},         {.rtol = 1e-3, .atol = 1e-5}, {.atol = 0.5}, {.rtol = 1e300},
      {.ulp = 2}, {.rtol = 0.1, .ulp = 3}};
  for (const auto& [actual_dtype, golden_dtype] : dtypes)
    for (const btf::Tolerance& tolerance : tolerances)
      for (const bool close : {false, true}) {
        Agreement agreement{.judge = btf::judge_of(tolerance, actual_dtype, golden_dtype),
                            .narrow = true};
        if (close)
          agreement.close =
              btf::judge_of(btf::effective({.close = true}, {actual_dtype}, {golden_dtype}),
                            actual_dtype, golden_dtype);
        for (const bool equal_nan : {false, true})
          for (const std::uint64_t count : {1U, 7U, 64U, 65U, 1000U, 1024U}) {
            agreement.judge.equal_nan = equal_nan;
            std::vector<double> actual(count);
            std::vector<double> golden(count);
            for (std::uint64_t i = 0; i < count; ++i)
              std::tie(actual[i], golden[i]) = pair_of(random, agreement.judge.grid);
            PairBits wanted;
            PairBits acceptable;
            for (std::uint64_t i = 0; i < count; ++i) {
              if (agrees(actual[i], golden[i], agreement)) wanted.set(i);
              if (accepted(actual[i], golden[i], agreement)) acceptable.set(i);
            }
            for (const btf::CpuLevel level : btf::test::cpu_levels()) {
              const btf::test::ForcedLevel forced(level);
              const PairBits found =
                  btf::hints::agreeing(actual.data(), golden.data(), count, agreement);
              for (std::uint64_t i = 0; i < count; ++i)
                if (found[i] != wanted[i]) {
                  CAPTURE(btf::info(actual_dtype).name, btf::info(golden_dtype).name,
                          btf::cpu_level_name(level), actual[i], golden[i], close);
                  CHECK(found[i] == wanted[i]);
                }
              CHECK(found.words == wanted.words);
              CHECK(btf::hints::accepted_pairs(actual.data(), golden.data(), count, agreement)
                        .words == acceptable.words);
            }
          }
      }
}
