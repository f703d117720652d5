// Equal finite codes, on every instruction set, against a look at one code after the other.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "btf/dtype.h"
#include "kernels/compare/compare_runs.h"
#include "support/forced_level.h"

namespace {

using btf::DType;
using btf::DTypeInfo;

std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& codes, std::size_t size,
                                std::size_t shift) {
  std::vector<std::byte> bytes(shift + codes.size() * size, std::byte{0x5a});
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(bytes.data() + shift + i * size, &codes[i], size);
  return bytes;
}

// Codes of all kinds; every code there is up to 16 bits.
std::vector<std::uint64_t> sample(const DTypeInfo& row) {
  std::vector<std::uint64_t> codes;
  if (row.bits <= 16) {
    for (std::uint64_t code = 0; code < 1ULL << row.bits; ++code) codes.push_back(code);
    return codes;
  }
  const std::uint64_t all = row.bits == 64 ? ~0ULL : (1ULL << row.bits) - 1;
  for (std::uint64_t high = 0; high < 1U << 13; ++high) {
    const std::uint64_t top = high << (row.bits - 13);
    for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, all >> 13})
      codes.push_back((top | low) & all);
  }
  return codes;
}

bool finite(const DTypeInfo& row, std::uint64_t code) {
  return !row.floating() || std::isfinite(btf::value_double(row.dtype, code));
}

}  // namespace

TEST_CASE("same bits: one code is the same if it is finite") {
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (const DTypeInfo& row : btf::dtypes()) {
      CAPTURE(row.name, btf::cpu_level_name(level));
      for (const std::uint64_t code : sample(row))
        if (btf::same_finite_bits(row.dtype, reinterpret_cast<const std::byte*>(&code),
                                  reinterpret_cast<const std::byte*>(&code),
                                  1) != finite(row, code))
          FAIL_CHECK("code " << code);
    }
  }
}

TEST_CASE("same bits: every count and place, misaligned, and nothing behind the end") {
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    for (const DTypeInfo& row : btf::dtypes()) {
      const std::size_t size = row.buffer_bytes();
      const std::size_t most = 2 * 64 / size;
      const std::uint64_t one = row.bits < 8 ? 1 : 1ULL << (row.bits - 2);
      CAPTURE(row.name, btf::cpu_level_name(level));
      for (std::size_t count = 0; count <= most; ++count) {
        // The code behind the end differs.
        std::vector<std::uint64_t> codes(count + 1, one);
        const auto golden = bytes_of(codes, size, 3);
        codes[count] = 0;
        for (std::size_t at = 0; at <= count; ++at) {
          if (at < count) codes[at] ^= 1;
          const auto actual = bytes_of(codes, size, 1);
          if (at < count) codes[at] ^= 1;
          const bool same =
              btf::same_finite_bits(row.dtype, actual.data() + 1, golden.data() + 3, count);
          if (same != (at == count)) FAIL_CHECK("count " << count << ", difference at " << at);
        }
      }
    }
  }
}
