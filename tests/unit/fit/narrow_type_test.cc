// Rounding as a narrow device does, against the kernels that cast.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "btf/dtype.h"
#include "fit/node_measure.h"
#include "kernels/number/number.h"
#include "kernels/number/widen.h"

using btf::DType;

namespace {

// All codes of 16 bits as numbers, and what lies between two neighbours: the oracle knows no
// rounding but which of them is nearer, and the even code of two that are equally near.
void check_all(DType dtype) {
  const btf::NarrowType type(dtype);
  const auto widen = btf::widener<double>(dtype);
  const auto value = [&](std::uint16_t code) {
    std::byte bytes[2];
    std::memcpy(bytes, &code, 2);
    double number = 0;
    widen(bytes, 1, 1, &number);
    return number;
  };
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  for (std::uint16_t code = 0; code < 0x7fff; ++code) {
    const double low = value(code);
    const double high = value(static_cast<std::uint16_t>(code + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = low + (high - low) / 2;
    for (const double sign : {1.0, -1.0}) {
      REQUIRE(type.round(sign * low) == sign * low);
      REQUIRE(type.round(sign * middle) == sign * (code % 2 == 0 ? low : high));
      const double between = low + (high - low) * part(random);
      if (between != middle)
        REQUIRE(type.round(sign * between) == sign * (between < middle ? low : high));
    }
  }
}

}  // namespace

TEST_CASE("narrow: the nearest number, ties to even", "[fit]") {
  check_all(DType::float16);
  check_all(DType::bfloat16);
}

TEST_CASE("narrow: what a type says of itself", "[fit]") {
  const btf::NarrowType half(DType::float16);
  CHECK(half.largest() == 65504);
  CHECK(half.smallest() == 0x1p-24);
  CHECK(half.unit_roundoff() == 0x1p-11);
  const btf::NarrowType brain(DType::bfloat16);
  CHECK(brain.largest() == 0x1.fep127);
  CHECK(brain.smallest() == 0x1p-133);
  CHECK(brain.unit_roundoff() == 0x1p-8);
}

TEST_CASE("narrow: beyond the range, and what is no number", "[fit]") {
  const btf::NarrowType type(DType::float16);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CHECK(type.round(65519.999) == 65504);
  CHECK(type.round(65520) == kInf);
  CHECK(type.round(-1e300) == -kInf);
  CHECK(type.round(-kInf) == -kInf);
  CHECK(std::isnan(type.round(std::numeric_limits<double>::quiet_NaN())));
  CHECK(type.round(0x1p-25) == 0);
  CHECK(type.round(0x1.1p-25) == 0x1p-24);
  CHECK(std::signbit(type.round(-0.0)));
  CHECK(type.read(32752, type.limit()) == 32752);
  CHECK(type.read(32753, type.limit()) == kInf);
  CHECK(type.read(-40000, type.limit()) == -kInf);
}
