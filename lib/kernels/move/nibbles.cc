#include <array>
#include <cstring>

#include "kernels/cpu/cpu_level.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

// Pairs of codes as numbers of 16 bits. On all supported CPUs the first code is in the low byte.
BTF_INLINE void pack(const std::byte* codes, std::uint64_t pairs, std::byte* packed) {
  for (std::uint64_t i = 0; i < pairs; ++i) {
    std::uint16_t pair;
    std::memcpy(&pair, codes + 2 * i, sizeof(pair));
    const auto both = static_cast<std::uint8_t>(pair | pair >> 4);
    std::memcpy(packed + i, &both, sizeof(both));
  }
}

BTF_INLINE void unpack(const std::byte* packed, std::uint64_t pairs, std::byte* codes) {
  for (std::uint64_t i = 0; i < pairs; ++i) {
    std::uint8_t both;
    std::memcpy(&both, packed + i, sizeof(both));
    const auto pair = static_cast<std::uint16_t>((both | both << 4) & 0x0f0f);
    std::memcpy(codes + 2 * i, &pair, sizeof(pair));
  }
}

BTF_LEVELS(pack, void, (const std::byte* codes, std::uint64_t pairs, std::byte* packed),
           (codes, pairs, packed))
BTF_LEVELS(unpack, void, (const std::byte* packed, std::uint64_t pairs, std::byte* codes),
           (packed, pairs, codes))

using Loop = void (*)(const std::byte*, std::uint64_t, std::byte*);
constexpr std::array<Loop, kCpuLevels> kPack = BTF_LEVEL_TABLE(pack);
constexpr std::array<Loop, kCpuLevels> kUnpack = BTF_LEVEL_TABLE(unpack);

}  // namespace

void unpack_nibbles(const std::byte* packed, std::uint64_t first, std::uint64_t count,
                    std::byte* codes) {
  if (count == 0) return;
  packed += first / 2;
  if (first % 2 != 0) {
    *codes++ = *packed++ >> 4;
    --count;
  }
  kUnpack[cpu_level()](packed, count / 2, codes);
  if (count % 2 != 0) codes[count - 1] = packed[count / 2] & std::byte{0xf};
}

void pack_nibbles(const std::byte* codes, std::uint64_t count, std::byte* packed) {
  kPack[cpu_level()](codes, count / 2, packed);
  if (count % 2 != 0) packed[count / 2] = codes[count - 1];
}

}  // namespace btf
