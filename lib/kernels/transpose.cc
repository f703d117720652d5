// Square blocks that fill vector registers, by ladders of unpack instructions; the rest one by one.
#include "kernels/transpose.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace btf {
namespace {

// A part of the matrix that stays in the first-level cache on both sides.
constexpr std::uint64_t kPart = 64;

template <typename Word>
void transpose_plain(const std::byte* source, std::uint64_t source_stride, std::byte* target,
                     std::uint64_t target_stride, std::uint64_t rows, std::uint64_t columns) {
  for (std::uint64_t c = 0; c < columns; ++c)
    for (std::uint64_t r = 0; r < rows; ++r)
      std::memcpy(target + (c * target_stride + r) * sizeof(Word),
                  source + (r * source_stride + c) * sizeof(Word), sizeof(Word));
}

#if defined(__SSE2__)

// Elements on a side of the block that transpose_block() takes: a register's worth.
template <typename Word>
constexpr std::uint64_t kSide = 16 / sizeof(Word);

template <typename Word>
__m128i unpack_low(__m128i a, __m128i b) {
  if constexpr (sizeof(Word) == 1) return _mm_unpacklo_epi8(a, b);
  if constexpr (sizeof(Word) == 2) return _mm_unpacklo_epi16(a, b);
  if constexpr (sizeof(Word) == 4) return _mm_unpacklo_epi32(a, b);
  return _mm_unpacklo_epi64(a, b);
}

template <typename Word>
__m128i unpack_high(__m128i a, __m128i b) {
  if constexpr (sizeof(Word) == 1) return _mm_unpackhi_epi8(a, b);
  if constexpr (sizeof(Word) == 2) return _mm_unpackhi_epi16(a, b);
  if constexpr (sizeof(Word) == 4) return _mm_unpackhi_epi32(a, b);
  return _mm_unpackhi_epi64(a, b);
}

// One round interleaves row i with row i + side / 2; log2(side) rounds transpose the block.
template <typename Word>
void transpose_block(const std::byte* source, std::uint64_t source_stride, std::byte* target,
                     std::uint64_t target_stride) {
  constexpr std::uint64_t kN = kSide<Word>;
  __m128i block[kN];
  __m128i next[kN];
  for (std::uint64_t r = 0; r < kN; ++r)
    block[r] = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(source + r * source_stride * sizeof(Word)));
  for (std::uint64_t round = 1; round < kN; round *= 2) {
    for (std::uint64_t i = 0; i < kN / 2; ++i) {
      next[2 * i] = unpack_low<Word>(block[i], block[i + kN / 2]);
      next[2 * i + 1] = unpack_high<Word>(block[i], block[i + kN / 2]);
    }
    std::copy_n(next, kN, block);
  }
  for (std::uint64_t c = 0; c < kN; ++c)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + c * target_stride * sizeof(Word)),
                     block[c]);
}

template <typename Word>
void transpose_part(const std::byte* source, std::uint64_t source_stride, std::byte* target,
                    std::uint64_t target_stride, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kN = kSide<Word>;
  const std::uint64_t whole_rows = rows / kN * kN;
  const std::uint64_t whole_columns = columns / kN * kN;
  const auto from = [&](std::uint64_t r, std::uint64_t c) {
    return source + (r * source_stride + c) * sizeof(Word);
  };
  const auto to = [&](std::uint64_t r, std::uint64_t c) {
    return target + (c * target_stride + r) * sizeof(Word);
  };
  for (std::uint64_t c = 0; c < whole_columns; c += kN)
    for (std::uint64_t r = 0; r < whole_rows; r += kN)
      transpose_block<Word>(from(r, c), source_stride, to(r, c), target_stride);
  transpose_plain<Word>(from(0, whole_columns), source_stride, to(0, whole_columns), target_stride,
                        whole_rows, columns - whole_columns);
  transpose_plain<Word>(from(whole_rows, 0), source_stride, to(whole_rows, 0), target_stride,
                        rows - whole_rows, columns);
}

#else

template <typename Word>
void transpose_part(const std::byte* source, std::uint64_t source_stride, std::byte* target,
                    std::uint64_t target_stride, std::uint64_t rows, std::uint64_t columns) {
  transpose_plain<Word>(source, source_stride, target, target_stride, rows, columns);
}

#endif

template <typename Word>
void transpose_all(const std::byte* source, std::uint64_t source_stride, std::byte* target,
                   std::uint64_t target_stride, std::uint64_t rows, std::uint64_t columns) {
  for (std::uint64_t c = 0; c < columns; c += kPart)
    for (std::uint64_t r = 0; r < rows; r += kPart)
      transpose_part<Word>(source + (r * source_stride + c) * sizeof(Word), source_stride,
                           target + (c * target_stride + r) * sizeof(Word), target_stride,
                           std::min(kPart, rows - r), std::min(kPart, columns - c));
}

}  // namespace

void transpose(std::uint64_t element_bytes, const std::byte* source, std::uint64_t source_stride,
               std::byte* target, std::uint64_t target_stride, std::uint64_t rows,
               std::uint64_t columns) {
  if (element_bytes == 1)
    transpose_all<std::uint8_t>(source, source_stride, target, target_stride, rows, columns);
  else if (element_bytes == 2)
    transpose_all<std::uint16_t>(source, source_stride, target, target_stride, rows, columns);
  else if (element_bytes == 4)
    transpose_all<std::uint32_t>(source, source_stride, target, target_stride, rows, columns);
  else
    transpose_all<std::uint64_t>(source, source_stride, target, target_stride, rows, columns);
}

}  // namespace btf
