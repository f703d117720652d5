// The parts of ggml's blocks: nibbles, small integers, float16 scales.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/little_endian.h"

namespace btf::ggml_blocks {

inline constexpr int kHalf = 16;   // bytes of 32 codes of 4 bits
inline constexpr int kGroup = 32;  // elements whose codes differ by a shift
inline constexpr int kSuper = 256;

inline int low(std::byte byte) { return std::to_integer<int>(byte) & 0xf; }
inline int high(std::byte byte) { return std::to_integer<int>(byte) >> 4; }
inline int bits(std::byte byte, int shift, int mask) {
  return std::to_integer<int>(byte) >> shift & mask;
}
inline int code8(std::byte byte) {
  return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(byte));
}

// A float16. Its exponent is put in place and then scaled, which is exact below the normal numbers
// too.
inline float half_of(std::uint16_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000U) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(code & 0x7fffU) << 13;
  const bool special = (code & 0x7c00U) == 0x7c00U;
  const float magnitude =
      special ? std::bit_cast<float>(rest | 0x7f800000U) : std::bit_cast<float>(rest) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

inline float half(const std::byte* at) { return half_of(load_little<std::uint16_t>(at)); }

}  // namespace btf::ggml_blocks
