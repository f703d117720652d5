// Blocks whose codes are numbers of entries of a code book, and those of three values.
#include <array>
#include <bit>
#include <cstdint>

#include "core/little_endian.h"
#include "formats/gguf/block_parts.h"
#include "formats/gguf/blocks.h"
#include "formats/gguf/iq_grids.h"

namespace btf::ggml_blocks {
namespace {

constexpr std::array<float, 4> kIq2Values{8, 25, 43, 0};
constexpr std::array<float, 8> kIq3XxsValues{4, 12, 20, 28, 36, 44, 52, 62};
constexpr std::array<float, 8> kIq3SValues{1, 3, 5, 7, 9, 11, 13, 15};
constexpr std::array<float, 4> kIq1Values{-1, 0, 1, 0};
constexpr float kIq1Delta = 0.125F;
constexpr std::array<float, 16> kIq4Values{-127, -104, -83, -65, -49, -35, -22, -10,
                                           1,    13,   25,  38,  53,  69,  89,  113};
constexpr std::array<unsigned, 5> kPowersOf3{1, 3, 9, 27, 81};

unsigned byte_at(const std::byte* at) { return std::to_integer<unsigned>(*at); }

// Seven signs; the eighth makes their number even.
unsigned eight_signs(std::uint32_t seven) {
  const unsigned signs = seven & 127;
  return signs | (static_cast<unsigned>(std::popcount(signs)) & 1) << 7;
}

float with_sign_of(float value, unsigned signs, int i) {
  return value * ((signs >> i & 1) != 0 ? -1.0F : 1.0F);
}

void put8(float* numbers, float d, unsigned entry, unsigned signs) {
  for (int i = 0; i < 8; ++i)
    numbers[i] = with_sign_of(d * kIq2Values[entry >> (2 * i) & 3], signs, i);
}

void put4(float* numbers, float d, const std::array<float, 8>& values, unsigned entry,
          unsigned signs) {
  for (int i = 0; i < 4; ++i) numbers[i] = with_sign_of(d * values[entry >> (4 * i) & 7], signs, i);
}

void put_iq1(float* numbers, float d, unsigned entry, bool down) {
  const float delta = down ? -kIq1Delta : kIq1Delta;
  for (int i = 0; i < 8; ++i) numbers[i] = d * (kIq1Values[entry >> (2 * i) & 3] + delta);
}

// The i-th nibble, the low one of each byte first.
int nibble(const std::byte* bytes, int i) { return bits(bytes[i / 2], i % 2 * 4, 0xf); }

void put_iq4(float* numbers, float d, const std::byte* codes) {
  for (int i = 0; i < kHalf; ++i) {
    numbers[i] = d * kIq4Values[static_cast<std::size_t>(low(codes[i]))];
    numbers[i + kHalf] = d * kIq4Values[static_cast<std::size_t>(high(codes[i]))];
  }
}

// Five numbers of three values in a byte, as a fraction of 256: the digits of a number to base 3.
float ternary(std::byte byte, std::size_t digit) {
  const unsigned shifted = std::to_integer<unsigned>(byte) * kPowersOf3[digit] & 0xff;
  return static_cast<float>(static_cast<int>(shifted * 3 >> 8) - 1);
}

}  // namespace

// d; of each 32 numbers four entries, and in 32 bits four times seven signs and a scale.
void iq2_xxs(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int group = 0; group < kSuper / kGroup; ++group) {
    const std::byte* const entries = block + 2 + group * 8;
    const auto rest = load_little<std::uint32_t>(entries + 4);
    const float by = d * (0.5F + static_cast<float>(rest >> 28)) * 0.25F;
    for (int i = 0; i < 4; ++i)
      put8(numbers + group * kGroup + i * 8, by, kIq2Xxs[byte_at(entries + i)],
           eight_signs(rest >> (7 * i)));
  }
}

// d; of each 8 numbers an entry of 9 bits and seven signs; a scale of 4 bits for each 16.
void iq2_xs(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kSuper / 8; ++i) {
    const unsigned code = load_little<std::uint16_t>(block + 2 + i * 2);
    const float by = d * (0.5F + static_cast<float>(nibble(block + 66, i / 2))) * 0.25F;
    put8(numbers + i * 8, by, kIq2Xs[code & 511], eight_signs(code >> 9));
  }
}

// d; of each 8 numbers 8 bits of an entry, the signs, the upper 2 bits; a scale for each 16.
void iq2_s(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kSuper / 8; ++i) {
    const auto upper = static_cast<unsigned>(bits(block[66 + i / 4], i % 4 * 2, 3));
    const float by = d * (0.5F + static_cast<float>(nibble(block + 74, i / 2))) * 0.25F;
    put8(numbers + i * 8, by, kIq2S[byte_at(block + 2 + i) | upper << 8], byte_at(block + 34 + i));
  }
}

// d; of each 4 numbers an entry; of each 32 four times seven signs and a scale.
void iq3_xxs(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int group = 0; group < kSuper / kGroup; ++group) {
    const std::byte* const entries = block + 2 + group * 8;
    const auto rest = load_little<std::uint32_t>(block + 66 + group * 4);
    const float by = d * (0.5F + static_cast<float>(rest >> 28)) * 0.5F;
    for (int i = 0; i < 8; ++i)
      put4(numbers + group * kGroup + i * 4, by, kIq3XxsValues, kIq3Xxs[byte_at(entries + i)],
           eight_signs(rest >> (7 * (i / 2))) >> (i % 2 * 4));
  }
}

// d; of each 4 numbers 8 bits of an entry and the upper one; the signs; a scale for each 32.
void iq3_s(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kSuper / 4; ++i) {
    const auto upper = static_cast<unsigned>(bits(block[66 + i / 8], i % 8, 1));
    const float by = d * static_cast<float>(1 + 2 * nibble(block + 106, i / 8));
    put4(numbers + i * 4, by, kIq3SValues, kIq3S[byte_at(block + 2 + i) | upper << 8],
         byte_at(block + 74 + i / 2) >> (i % 2 * 4));
  }
}

// d; of each 8 numbers 8 bits of an entry; of each 32 the upper bits, a scale, where they lie.
void iq1_s(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kSuper / 8; ++i) {
    const unsigned rest = load_little<std::uint16_t>(block + 34 + i / 4 * 2);
    const float by = d * static_cast<float>(2 * (rest >> 12 & 7) + 1);
    const unsigned upper = rest >> (i % 4 * 3) & 7;
    put_iq1(numbers + i * 8, by, kIq1[byte_at(block + 2 + i) | upper << 8], (rest & 0x8000) != 0);
  }
}

// The same, with a scale for each 16 numbers; d lies in the upper four bits of four words.
void iq1_m(const std::byte* block, float* numbers) {
  const std::byte* const words = block + 48;
  unsigned code = 0;
  for (int i = 0; i < 4; ++i)
    code |= (load_little<std::uint16_t>(words + i * 2) & 0xf000U) >> (12 - 4 * i);
  const float d = half_of(static_cast<std::uint16_t>(code));
  for (int i = 0; i < kSuper / 8; ++i) {
    const int scale = i / 2;
    const unsigned word = load_little<std::uint16_t>(words + scale / 4 * 2);
    const float by = d * static_cast<float>(2 * (word >> (scale % 4 * 3) & 7) + 1);
    const auto rest = static_cast<unsigned>(nibble(block + 32, i));
    put_iq1(numbers + i * 8, by, kIq1[byte_at(block + i) | (rest & 7) << 8], (rest & 8) != 0);
  }
}

void iq4_nl(const std::byte* block, float* numbers) { put_iq4(numbers, half(block), block + 2); }

// d; the upper 2 bits of eight scales, their lower 4; codes.
void iq4_xs(const std::byte* block, float* numbers) {
  const float d = half(block);
  const int upper = load_little<std::uint16_t>(block + 2);
  for (int group = 0; group < kSuper / kGroup; ++group) {
    const int scale = nibble(block + 4, group) | (upper >> (2 * group) & 3) << 4;
    put_iq4(numbers + group * kGroup, d * static_cast<float>(scale - 32),
            block + 8 + group * kHalf);
  }
}

// 48 bytes of five numbers, 4 of four; d.
void tq1_0(const std::byte* block, float* numbers) {
  const float d = half(block + 52);
  for (const auto& [first, bytes, digits] :
       std::to_array<std::array<int, 3>>({{0, 32, 5}, {32, 16, 5}, {48, 4, 4}})) {
    for (int digit = 0; digit < digits; ++digit)
      for (int i = 0; i < bytes; ++i)
        *numbers++ = d * ternary(block[first + i], static_cast<std::size_t>(digit));
  }
}

void tq2_0(const std::byte* block, float* numbers) {
  const float d = half(block + 64);
  for (int first = 0; first < 64; first += kGroup)
    for (int shift = 0; shift < 8; shift += 2)
      for (int i = 0; i < kGroup; ++i)
        *numbers++ = d * static_cast<float>(bits(block[first + i], shift, 3) - 1);
}

}  // namespace btf::ggml_blocks
