// Integers of 64 bits as the nearest doubles, at every level.
#include "kernels/number/widen_runs.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

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
