// Errors of scaled codes, for every instruction set that this CPU has, against codes of the
// reference (scaled_cast.cc) and what they stand for.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/fit.h"
#include "core/dtype.h"
#include "kernels/scale/scale.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

// A float near a code times the scale, or between two; now and then anything, far, or none.
float number(DType to, double scale, Random& random) {
  const std::uint64_t choice = random.below(10);
  if (choice == 0) return random.below(2) == 0 ? INFINITY : NAN;
  if (choice == 1) return random.below(2) == 0 ? 0.0F : -0.0F;
  if (choice == 2)
    return static_cast<float>(std::ldexp(scale, static_cast<int>(random.below(40)) - 20));
  const std::uint64_t codes = std::uint64_t{1} << info(to).bits;
  double value = value_double(to, random.below(codes));
  const double other = value_double(to, random.below(codes));
  if (choice > 5) value = (value + other) / 2;
  return static_cast<float>(value * scale);
}

ScalingErrors by_reference(DType to, const std::vector<float>& numbers,
                           const std::vector<double>& scales) {
  ScalingErrors errors;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) continue;
    std::uint64_t code = 0;
    LossAccount account;
    quantize_run({DType::float32, to, {}}, number::from_double(scales[i]),
                 reinterpret_cast<const std::byte*>(&numbers[i]),
                 reinterpret_cast<std::byte*>(&code), 1, account);
    const double error = value_double(to, code) * scales[i] - static_cast<double>(numbers[i]);
    errors.squares += error * error;
    errors.clipped += account.overflowed;
    errors.lost += value_double(to, code) == 0 && numbers[i] != 0 ? 1 : 0;
  }
  return errors;
}

void check(const ScalingErrors& found, const ScalingErrors& expected) {
  CHECK(found.clipped == expected.clipped);
  CHECK(found.lost == expected.lost);
  CHECK(std::abs(found.squares - expected.squares) <= 1e-12 * expected.squares);
}

void check_type(DType to, std::uint64_t seed) {
  Random random(seed);
  const Narrowing codes = scaled_codes(to);
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 17U, 200U}) {
    const auto one =
        static_cast<double>(std::ldexp(1 + static_cast<float>(random.below(1000)) / 1000,
                                       static_cast<int>(random.below(30)) - 20));
    std::vector<float> floats(count);
    std::vector<double> each(count);
    for (std::size_t i = 0; i < count; ++i) {
      each[i] = static_cast<double>(static_cast<float>(one * (1 + static_cast<double>(i % 5))));
      floats[i] = number(to, i % 2 == 0 ? one : each[i], random);
    }
    const std::vector<double> numbers(floats.begin(), floats.end());
    const ScalingErrors expected = by_reference(to, floats, std::vector<double>(count, one));
    const ScalingErrors expected_each = by_reference(to, floats, each);
    double first = -1;
    for (const CpuLevel level : cpu_levels()) {
      const ForcedLevel forced(level);
      CAPTURE(info(to).name, count, level);
      const ScalingErrors found = scaling_errors(codes, numbers.data(), count, one);
      check(found, expected);
      check(scaling_errors_each(codes, numbers.data(), count, each.data()), expected_each);
      if (first < 0) first = found.squares;
      CHECK(std::bit_cast<std::uint64_t>(found.squares) == std::bit_cast<std::uint64_t>(first));
    }
  }
}

}  // namespace

TEST_CASE("scaling errors: those of the reference's codes, the same bits at every level", "[fit]") {
  std::uint64_t types = 0;
  for (const DTypeInfo& row : dtype_rows::kRows) {
    if (!needs_scale(row.dtype)) continue;
    check_type(row.dtype, ++types);
  }
  CHECK(types == 10);
}

}  // namespace btf::test
