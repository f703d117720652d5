// Decoding of ggml's blocks: codes with their own scales.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/numbers.h"
#include "formats/gguf.h"
#include "formats/io/byte_source.h"

namespace btf::ggml_blocks {

// Parts of ggml's blocks: nibbles, small integers, float16 scales.

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

// Decodes a float16 by moving its exponent into place and scaling, which is also exact for
// subnormal numbers.
inline float half_of(std::uint16_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000U) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(code & 0x7fffU) << 13;
  const bool special = (code & 0x7c00U) == 0x7c00U;
  const float magnitude =
      special ? std::bit_cast<float>(rest | 0x7f800000U) : std::bit_cast<float>(rest) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

inline float half(const std::byte* at) { return half_of(load_little<std::uint16_t>(at)); }

// Decoders for one block of each type; docs/formats.md has the layouts. Each number is computed in
// float32 in the same order as in ggml, so it is bit-identical.

// Blocks of 32 numbers.
void q4_0(const std::byte* block, float* numbers);
void q4_1(const std::byte* block, float* numbers);
void q5_0(const std::byte* block, float* numbers);
void q5_1(const std::byte* block, float* numbers);
void q8_0(const std::byte* block, float* numbers);
void mxfp4(const std::byte* block, float* numbers);
void iq4_nl(const std::byte* block, float* numbers);

// Blocks of 64 numbers.
void nvfp4(const std::byte* block, float* numbers);

// Blocks of 256 numbers.
void q2_k(const std::byte* block, float* numbers);
void q3_k(const std::byte* block, float* numbers);
void q4_k(const std::byte* block, float* numbers);
void q5_k(const std::byte* block, float* numbers);
void q6_k(const std::byte* block, float* numbers);
void iq1_s(const std::byte* block, float* numbers);
void iq1_m(const std::byte* block, float* numbers);
void iq2_xxs(const std::byte* block, float* numbers);
void iq2_xs(const std::byte* block, float* numbers);
void iq2_s(const std::byte* block, float* numbers);
void iq3_xxs(const std::byte* block, float* numbers);
void iq3_s(const std::byte* block, float* numbers);
void iq4_xs(const std::byte* block, float* numbers);
void tq1_0(const std::byte* block, float* numbers);
void tq2_0(const std::byte* block, float* numbers);

}  // namespace btf::ggml_blocks

namespace btf {

// Blocks of codes as the float32 numbers that they represent. The blocks begin at byte `first` of
// the source, which must outlive the result, and contain exactly `elements` elements. It can be
// read anywhere: a block is decoded if any of its bytes is requested.
std::unique_ptr<ByteSource> block_source(const ByteSource& source, std::uint64_t first,
                                         std::uint64_t elements, const GgmlType& type);

}  // namespace btf
