// Elements as doubles, at every level.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/number/widen.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace {

// Of every size; around halves of a step, where rounding turns.
template <typename T>
std::vector<T> numbers(std::uint64_t count, Random& random) {
  std::vector<T> some(count);
  for (T& x : some) {
    std::uint64_t bits = random.next() >> random.below(64);
    if (random.below(2) == 0) bits = (bits | 0x400) & ~std::uint64_t{0x3ff};
    bits += random.below(3) - 1;
    x = static_cast<T>(random.below(2) == 0 ? bits : 0 - bits);
  }
  if (count > 1) some[random.below(count)] = std::numeric_limits<T>::max();
  if (count > 1) some[random.below(count)] = std::numeric_limits<T>::min();
  return some;
}

template <typename T>
void check(btf::DType dtype) {
  Random random(41);
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    const btf::WidenRunFn widen = btf::find_widen_run(dtype);
    REQUIRE(widen != nullptr);
    for (std::uint64_t count = 0; count < 70; ++count) {
      const std::vector<T> from = numbers<T>(count + 1, random);
      std::vector<double> to(count + 1, 77);
      widen(reinterpret_cast<const std::byte*>(from.data()), count, to.data());
      CAPTURE(btf::info(dtype).name, btf::cpu_level_name(level), count);
      CHECK(to[count] == 77);
      bool same = true;
      for (std::uint64_t i = 0; i < count; ++i)
        same = same && to[i] == static_cast<double>(from[i]);
      CHECK(same);
    }
  }
}

}  // namespace

TEST_CASE("widen runs: integers of 64 bits, rounded once") {
  check<std::int64_t>(btf::DType::int64);
  check<std::uint64_t>(btf::DType::uint64);
}

TEST_CASE("widen runs: every code of float16, NaN with its payload") {
  std::vector<std::uint16_t> codes;
  std::vector<double> expected;
  for (int code = 0; code < 0x10000; ++code) {
    codes.push_back(static_cast<std::uint16_t>(code));
    const int exponent = code >> 10 & 31;
    const int fraction = code & 0x3ff;
    const double size = exponent == 0    ? std::ldexp(fraction, -24)
                        : exponent == 31 ? std::numeric_limits<double>::infinity()
                                         : std::ldexp(1024 + fraction, exponent - 25);
    const auto quiet = 0x7ff8000000000000 | static_cast<std::uint64_t>(fraction) << 42;
    const bool nan = exponent == 31 && fraction != 0;
    expected.push_back(
        std::copysign(nan ? std::bit_cast<double>(quiet) : size, code < 0x8000 ? 1 : -1));
  }
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    std::vector<double> out(codes.size() - 1);  // a count with a rest
    btf::find_widen_run(btf::DType::float16)(reinterpret_cast<const std::byte*>(codes.data() + 1),
                                             out.size(), out.data());
    CAPTURE(btf::cpu_level_name(level));
    CHECK(std::memcmp(out.data(), expected.data() + 1, out.size() * sizeof(double)) == 0);
  }
}
