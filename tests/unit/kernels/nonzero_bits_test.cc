#include <catch2/catch.hpp>
#include <vector>

#include "kernels/stats/stats.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

TEST_CASE("codes that are not zero: of a run as of each byte, at every level") {
  Random random(3);
  for (const std::uint64_t width : {1U, 2U, 4U, 8U})
    for (const std::uint64_t count : {0U, 1U, 7U, 63U, 64U, 65U, 127U, 128U, 1000U}) {
      std::vector<std::byte> codes(count * width);
      for (std::byte& one : codes)
        if (random.below(3 * width) == 0)
          one = std::byte{static_cast<unsigned char>(1U << random.below(8))};
      std::vector<std::uint64_t> wanted((count + 63) / 64);
      std::uint64_t set = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        bool any = false;
        for (std::uint64_t b = 0; b < width; ++b) any = any || codes[i * width + b] != std::byte{0};
        wanted[i / 64] |= std::uint64_t{any} << i % 64;
        set += any ? 1 : 0;
      }
      for (const btf::CpuLevel level : btf::test::cpu_levels()) {
        const btf::test::ForcedLevel forced(level);
        CAPTURE(btf::cpu_level_name(level), width, count);
        std::vector<std::uint64_t> bits((count + 63) / 64, 0x5555);
        CHECK(btf::nonzero_bits(codes.data(), width, count, bits.data()) == set);
        CHECK(bits == wanted);
      }
    }
}
