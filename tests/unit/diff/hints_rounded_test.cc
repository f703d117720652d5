// One cause among mismatches that are rounding: to a dtype that the other side does not have, to
// numbers kept in float32, to codes times a scale.
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "support/hint_data.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const Words kDims{2, 8, 16, 16};

Tensor normal(std::uint64_t seed, double size = 1) {
  Random random(seed);
  return tensor(DType::float32, kDims, gaussians(product(kDims), size, random));
}

// What float32 holds of numbers that were `dtype` on the way.
Tensor kept(DType dtype, const Words& dims, const Values& values) {
  return tensor(DType::float32, dims, tensor(dtype, dims, values).values());
}

Tensor multiples(const Values& values, double step, double low = -1e9, double high = 1e9) {
  Values rounded = values;
  for (double& value : rounded)
    value = std::clamp(std::nearbyint(value / step), low, high) * step;
  return tensor(DType::float32, kDims, rounded);
}

}  // namespace

TEST_CASE("hints among rounding: numbers beyond float16, in float16 and kept in float32") {
  const Tensor ordinary = normal(1);
  Values values = ordinary.values();
  for (std::uint64_t i = 0; i < 12; ++i)
    values[i * 300 + 7] = 70000 + 100 * static_cast<double>(i);
  const Tensor golden = tensor(DType::float32, kDims, values);
  Values cut = values;
  for (double& value : cut) value = std::min(value, 65504.0);
  std::uint64_t rounded = 0;
  const Tensor small = tensor(DType::float16, kDims, values);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    if (small.value(i) != golden.value(i) && std::isfinite(small.value(i))) ++rounded;
  const std::string others =
      "; the other " + std::to_string(rounded) + " are within float16's rounding";
  const std::string inf =
      "saturation: 12 mismatches have actual Inf where golden is beyond float16's largest, 65504";
  CHECK(hint_of(small, golden) == inf + others);
  CHECK(hint_of(kept(DType::float16, kDims, values), golden) == inf + others);
  const std::string largest =
      "saturation: 12 mismatches have actual at float16's largest, 65504, where golden is above it";
  CHECK(hint_of(tensor(DType::float16, kDims, cut), golden) == largest + others);
  CHECK(hint_of(kept(DType::float16, kDims, cut), golden) == largest + others);
  // Of codes times a scale, as many as are beyond.
  const Tensor codes = multiples(ordinary.values(), 2.5 / 127, -128, 127);
  CHECK_THAT(hint_of(codes, ordinary),
             StartsWith("saturation: ") && Contains("0.0197 times int8's limits, -2.5") &&
                 Contains("are within rounding to multiples of 0.0197"));
}

TEST_CASE("hints among rounding: of every kind, kept in float32") {
  const Tensor golden = normal(2);
  const Tensor shifted = gathered(golden, [](std::uint64_t i) { return i < 5 ? i : i - 5; });
  const Tensor mirrored =
      gathered(golden, [](std::uint64_t i) { return i / 16 * 16 + 15 - i % 16; });
  const Tensor turned =
      gathered(golden, [](std::uint64_t i) { return i / 256 * 256 + i % 16 * 16 + i / 16 % 16; });
  const auto check = [&](const auto& rounding, const std::string& within) {
    const auto said = [&](Values values) { return hint_of(rounding(values), golden); };
    Values values = golden.values();
    for (double& value : values) value = -value;
    CHECK_THAT(said(values), StartsWith("sign: actual = -golden: 4096 of 4096 elements, ") &&
                                 Contains(" of them within " + within));
    CHECK_THAT(said(shifted.values()), StartsWith("shift: ") && Contains(within));
    CHECK_THAT(said(mirrored.values()),
               StartsWith("mirrored: actual is golden mirrored along dim 3 (W)") &&
                   Contains(within));
    CHECK_THAT(said(turned.values()), StartsWith("permutation: ") && Contains(within));
    values = golden.values();
    for (double& value : values) value *= 0.7;
    CHECK_THAT(said(values), StartsWith("scale: actual = 0.7 * golden: "));
    for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = golden.value(i) + 0.4;
    CHECK_THAT(said(values), StartsWith("offset: actual = golden + 0.4"));
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = i / 256 % 8 == 5 ? 0 : golden.value(i);
    CHECK_THAT(said(values), StartsWith("region: all ") && Contains("beyond " + within) &&
                                 Contains("dim 1 (C) = 5 (512 elements); actual is 0 there"));
  };
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3fn}) {
    INFO(btf::info(dtype).name);
    check([&](const Values& values) { return kept(dtype, kDims, values); },
          std::string(btf::info(dtype).name) + "'s rounding");
  }
  check([](const Values& values) { return multiples(values, 0.03125 * 1.1); },
        "rounding to multiples of 0.0344");
}

TEST_CASE("hints among rounding: factors and offsets that codes hardly show") {
  const Tensor golden = normal(3);
  constexpr double kStep = 0.03;
  const auto said = [&](double gain, double offset) {
    Values values = golden.values();
    for (double& value : values) value = gain * value + offset;
    return hint_of(multiples(values, kStep), golden);
  };
  CHECK_THAT(said(1.05, 0), StartsWith("scale: actual = 1.05 * golden: "));
  CHECK_THAT(said(1, kStep), StartsWith("offset: actual = golden + 0.03"));
  CHECK_THAT(said(0.8, 0.3), StartsWith("affine: actual = 0.8 * golden + 0.3: "));
  // Less than a step is rounding.
  CHECK(said(1, 0).empty());
  CHECK(said(1, 0.001).empty());
  // Codes and scales of each channel.
  Values values = golden.values();
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const auto channel = static_cast<double>(i / 256 % 8);
    const double step = 0.02 + 0.003 * channel;
    values[i] = std::nearbyint(values[i] * (0.4 + 0.05 * channel) / step) * step;
  }
  CHECK_THAT(hint_of(tensor(DType::float32, kDims, values), golden),
             StartsWith("channel-scale: actual = s * golden, s of each of 8 indices of dim 1 (C), "
                        "0.4") &&
                 Contains("within rounding to multiples of their own"));
}

TEST_CASE("hints among rounding: noise of a few steps has no cause") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed + 500);
    const Tensor golden = normal(seed + 900);
    Values values = golden.values();
    const double steps = 0.5 + 0.1 * static_cast<double>(seed);
    for (double& value : values) value += 0.03 * steps * gaussian(random);
    INFO(seed);
    CHECK(hint_of(multiples(values, 0.03), golden).empty());
    values = golden.values();
    for (double& value : values) value *= 1 + 0x1p-11 * steps * gaussian(random);
    CHECK(hint_of(kept(DType::float16, kDims, values), golden).empty());
  }
}
