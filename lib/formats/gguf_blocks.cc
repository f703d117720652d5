#include "formats/gguf_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "btf/try.h"
#include "core/numbers.h"

namespace btf::ggml_blocks {
namespace {

// Twice the number of each code of float4_e2m1fn; ggml has no -0.
constexpr std::array<float, 16> kTwiceE2M1{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of 2^(code - 127). The largest code is 2^127 and not NaN.
float half_e8m0(std::byte byte) {
  const auto code = std::to_integer<std::uint32_t>(byte);
  return std::bit_cast<float>(code < 2 ? 0x00200000U << code : (code - 1) << 23);
}

// Half of an unsigned E4M3, whose sign bit is ignored. 0x7f is 0.
float half_e4m3(std::byte byte) {
  const int code = std::to_integer<int>(byte);
  if (code == 0x7f) return 0;
  const int exponent = code >> 3 & 0xf;
  const int mantissa = code & 7;
  const auto significand = static_cast<float>(exponent == 0 ? mantissa : mantissa + 8);
  const int power = (exponent == 0 ? 1 : exponent) - 7 - 3 - 1;
  return significand * std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
}

// Low nibbles first, then the high ones, each completed by a fifth bit of `fifth`.
int code5(const std::byte* nibbles, std::uint32_t fifth, int i) {
  const int four = i < kHalf ? low(nibbles[i]) : high(nibbles[i - kHalf]);
  return four | static_cast<int>(fifth >> i & 1) << 4;
}

// 8 scales and 8 minima of 6 bits in 12 bytes: the first four have their own bytes, whose upper
// bits complete the nibbles of the others.
struct ScaleAndMin {
  int scale = 0;
  int min = 0;
};

ScaleAndMin scale_and_min(const std::byte* packed, int i) {
  if (i < 4) return {bits(packed[i], 0, 63), bits(packed[i + 4], 0, 63)};
  return {low(packed[i + 4]) | bits(packed[i - 4], 6, 3) << 4,
          high(packed[i + 4]) | bits(packed[i], 6, 3) << 4};
}

}  // namespace

void q4_0(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kHalf; ++i) {
    numbers[i] = d * static_cast<float>(low(block[2 + i]) - 8);
    numbers[i + kHalf] = d * static_cast<float>(high(block[2 + i]) - 8);
  }
}

void q4_1(const std::byte* block, float* numbers) {
  const float d = half(block);
  const float min = half(block + 2);
  for (int i = 0; i < kHalf; ++i) {
    numbers[i] = d * static_cast<float>(low(block[4 + i])) + min;
    numbers[i + kHalf] = d * static_cast<float>(high(block[4 + i])) + min;
  }
}

void q5_0(const std::byte* block, float* numbers) {
  const float d = half(block);
  const auto fifth = load_little<std::uint32_t>(block + 2);
  for (int i = 0; i < 2 * kHalf; ++i)
    numbers[i] = d * static_cast<float>(code5(block + 6, fifth, i) - 16);
}

void q5_1(const std::byte* block, float* numbers) {
  const float d = half(block);
  const float min = half(block + 2);
  const auto fifth = load_little<std::uint32_t>(block + 4);
  for (int i = 0; i < 2 * kHalf; ++i)
    numbers[i] = d * static_cast<float>(code5(block + 8, fifth, i)) + min;
}

void q8_0(const std::byte* block, float* numbers) {
  const float d = half(block);
  for (int i = 0; i < kGroup; ++i) numbers[i] = d * static_cast<float>(code8(block[2 + i]));
}

void mxfp4(const std::byte* block, float* numbers) {
  const float d = half_e8m0(block[0]);
  for (int i = 0; i < kHalf; ++i) {
    numbers[i] = d * kTwiceE2M1[static_cast<std::size_t>(low(block[1 + i]))];
    numbers[i + kHalf] = d * kTwiceE2M1[static_cast<std::size_t>(high(block[1 + i]))];
  }
}

// Four scales, and for each the codes of 16 elements.
void nvfp4(const std::byte* block, float* numbers) {
  for (int part = 0; part < 4; ++part) {
    const float d = half_e4m3(block[part]);
    const std::byte* const codes = block + 4 + part * 8;
    for (int i = 0; i < 8; ++i) {
      numbers[part * 16 + i] = d * kTwiceE2M1[static_cast<std::size_t>(low(codes[i]))];
      numbers[part * 16 + 8 + i] = d * kTwiceE2M1[static_cast<std::size_t>(high(codes[i]))];
    }
  }
}

// 16 scales and minima of 4 bits, codes of 2 bits, d, and the scale of the minima.
void q2_k(const std::byte* block, float* numbers) {
  const std::byte* const codes = block + 16;
  const float d = half(block + 80);
  const float dmin = half(block + 82);
  for (int first = 0; first < kSuper; first += 16) {
    const std::byte scales = block[first / 16];
    const float scale = d * static_cast<float>(low(scales));
    const float min = dmin * static_cast<float>(high(scales));
    const std::byte* const from = codes + first / 128 * kGroup + first % kGroup;
    const int shift = first % 128 / kGroup * 2;
    for (int i = 0; i < 16; ++i)
      numbers[first + i] = scale * static_cast<float>(bits(from[i], shift, 3)) - min;
  }
}

// The third bits of 256 codes, their low two bits, 16 scales of 6 bits, d.
void q3_k(const std::byte* block, float* numbers) {
  const std::byte* const codes = block + 32;
  const std::byte* const scales = block + 96;
  const float d = half(block + 108);
  for (int first = 0; first < kSuper; first += 16) {
    const int number = first / 16;
    const int four = number < 8 ? low(scales[number]) : high(scales[number - 8]);
    const int two = bits(scales[8 + number % 4], number / 4 * 2, 3);
    const float scale = d * static_cast<float>((four | two << 4) - 32);
    const std::byte* const from = codes + first / 128 * kGroup + first % kGroup;
    const std::byte* const third = block + first % kGroup;
    const int shift = first % 128 / kGroup * 2;
    for (int i = 0; i < 16; ++i)
      numbers[first + i] =
          scale * static_cast<float>(
                      (bits(from[i], shift, 3) | bits(third[i], first / kGroup, 1) << 2) - 4);
  }
}

void q4_k(const std::byte* block, float* numbers) {
  const float d = half(block);
  const float dmin = half(block + 2);
  for (int group = 0; group < kSuper / kGroup; ++group) {
    const auto [scale, min] = scale_and_min(block + 4, group);
    const float by = d * static_cast<float>(scale);
    const float less = dmin * static_cast<float>(min);
    const std::byte* const from = block + 16 + group / 2 * kGroup;
    const int shift = group % 2 * 4;
    for (int i = 0; i < kGroup; ++i)
      numbers[group * kGroup + i] = by * static_cast<float>(bits(from[i], shift, 0xf)) - less;
  }
}

void q5_k(const std::byte* block, float* numbers) {
  const float d = half(block);
  const float dmin = half(block + 2);
  const std::byte* const fifth = block + 16;
  for (int group = 0; group < kSuper / kGroup; ++group) {
    const auto [scale, min] = scale_and_min(block + 4, group);
    const float by = d * static_cast<float>(scale);
    const float less = dmin * static_cast<float>(min);
    const std::byte* const from = block + 48 + group / 2 * kGroup;
    const int shift = group % 2 * 4;
    for (int i = 0; i < kGroup; ++i) {
      const int code = bits(from[i], shift, 0xf) | bits(fifth[i], group, 1) << 4;
      numbers[group * kGroup + i] = by * static_cast<float>(code) - less;
    }
  }
}

// The low four bits of 256 codes, their upper two, 16 scales of 8 bits, d.
void q6_k(const std::byte* block, float* numbers) {
  const std::byte* const scales = block + 192;
  const float d = half(block + 208);
  for (int first = 0; first < kSuper; first += 16) {
    const float scale = d * static_cast<float>(code8(scales[first / 16]));
    const int within = first % 128;
    const std::byte* const four = block + first / 128 * 64 + within % 64;
    const std::byte* const two = block + 128 + first / 128 * kGroup + within % kGroup;
    for (int i = 0; i < 16; ++i) {
      const int code = bits(four[i], within / 64 * 4, 0xf) | bits(two[i], within / kGroup * 2, 3)
                                                                 << 4;
      numbers[first + i] = scale * static_cast<float>(code - 32);
    }
  }
}

}  // namespace btf::ggml_blocks

namespace btf {
namespace {

constexpr std::size_t kChunk = 16384;  // bytes of blocks that are read at once

class BlockSource final : public ByteSource {
 public:
  BlockSource(const ByteSource& source, std::uint64_t first, std::uint64_t elements,
              const GgmlType& type)
      : source_(source), first_(first), elements_(elements), type_(type) {}

  std::uint64_t size() const override { return elements_ * sizeof(float); }
  Status check_unchanged() const override { return source_.check_unchanged(); }
  std::uint64_t frame_count() const override { return source_.frame_count(); }
  Result<FrameCheck> check_frame(std::uint64_t index) const override {
    return source_.check_frame(index);
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of the elements");
    const std::uint64_t width = type_.elements * sizeof(float);
    std::uint64_t skip = offset % width;
    std::array<std::byte, kChunk> blocks;
    for (std::uint64_t block = offset / width; !out.empty();) {
      const std::uint64_t count =
          std::min(kChunk / type_.bytes, ceil_div(skip + out.size(), width));
      const std::span wanted = std::span(blocks).first(count * type_.bytes);
      BTF_TRY(source_.read_at(first_ + block * type_.bytes, wanted));
      decode(wanted, skip, out);
      block += count;
    }
    return {};
  }

 private:
  // Decodes without the first `skip` bytes of the result, and reduces `skip` by what was skipped.
  void decode(std::span<const std::byte> blocks, std::uint64_t& skip,
              std::span<std::byte>& out) const {
    std::array<float, kMaxBlockElements> numbers;
    const std::uint64_t width = type_.elements * sizeof(float);
    for (std::size_t at = 0; at < blocks.size(); at += type_.bytes) {
      type_.decode(blocks.data() + at, numbers.data());
      const std::uint64_t some = std::min<std::uint64_t>(width - skip, out.size());
      std::memcpy(out.data(), std::as_bytes(std::span(numbers)).data() + skip, some);
      out = out.subspan(some);
      skip = 0;
    }
  }

  const ByteSource& source_;
  std::uint64_t first_;
  std::uint64_t elements_;
  const GgmlType& type_;
};

}  // namespace

std::unique_ptr<ByteSource> block_source(const ByteSource& source, std::uint64_t first,
                                         std::uint64_t elements, const GgmlType& type) {
  return std::make_unique<BlockSource>(source, first, elements, type);
}

}  // namespace btf
