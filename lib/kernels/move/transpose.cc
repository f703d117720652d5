// Transposes blocks that fill vector registers, by rounds of interleaving instructions; the rest is
// moved element by element.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/simd_targets.h"
#include "kernels/move/move.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/transpose.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace btf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct Matrix {
  const T* source;
  std::size_t source_stride;
  T* target;
  std::size_t target_stride;
  std::size_t rows;
  std::size_t columns;
  std::size_t width;
  std::ptrdiff_t ahead;  // bytes

  const T* from(std::size_t r, std::size_t c) const { return source + r * source_stride + c; }
  T* to(std::size_t r, std::size_t c) const { return target + c * target_stride + r; }
};

template <typename T>
void copy_each(const Matrix<T>& m, std::size_t r, std::size_t rows, std::size_t c,
               std::size_t columns) {
  for (std::size_t j = c; j < c + columns; ++j)
    for (std::size_t i = r; i < r + rows; ++i) std::memcpy(m.to(i, j), m.from(i, j), sizeof(T));
}

#if HWY_TARGET == HWY_SCALAR

template <typename T>
void transpose_all(const Matrix<T>& m) {
  constexpr std::size_t kPart = 64;
  for (std::size_t c = 0; c < m.columns; c += kPart)
    for (std::size_t r = 0; r < m.rows; r += kPart)
      copy_each(m, r, std::min(kPart, m.rows - r), c, std::min(kPart, m.columns - c));
}

#else

// Elements of a piece of a row: 16 bytes, which interleaving instructions work on.
template <typename T>
constexpr std::size_t kPiece = 16 / sizeof(T);
// Elements of a cache line.
template <typename T>
constexpr std::size_t kLine = 64 / sizeof(T);

// A vector of pieces of kPieces rows, which are kPiece rows apart.
template <typename T, std::size_t kPieces>
HWY_INLINE auto load_pieces(const T* source, std::size_t stride) {
  const hn::FixedTag<T, kPiece<T> * kPieces> d;
  if constexpr (kPieces == 1)
    return hn::LoadU(d, source);
  else
    return hn::Combine(
        d, load_pieces<T, kPieces / 2>(source + kPieces / 2 * kPiece<T> * stride, stride),
        load_pieces<T, kPieces / 2>(source, stride));
}

// One round interleaves row i with row i + kPiece / 2; log2(kPiece) rounds transpose.
template <typename T, typename V>
HWY_INLINE void turn(V (&block)[kPiece<T>]) {
  constexpr std::size_t kN = kPiece<T>;
  const hn::DFromV<V> d;
  V next[kN];
#pragma GCC unroll 4
  for (std::size_t round = 1; round < kN; round *= 2) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kN / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, block[i], block[i + kN / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, block[i], block[i + kN / 2]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kN; ++i) block[i] = next[i];
  }
}

// Transposes kPieces * kPiece rows and kPiece columns.
template <std::size_t kPieces, typename T>
HWY_INLINE void whole_block(const Matrix<T>& m, std::size_t r, std::size_t c) {
  constexpr std::size_t kN = kPiece<T>;
  const hn::FixedTag<T, kN * kPieces> d;
  hn::Vec<decltype(d)> block[kN];
  const T* const source = m.from(r, c);
  T* const target = m.to(r, c);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kN; ++i)
    block[i] = load_pieces<T, kPieces>(source + i * m.source_stride, m.source_stride);
  turn<T>(block);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kN; ++i) hn::StoreU(block[i], d, target + i * m.target_stride);
}

// Transposes kPiece columns of fewer than kPiece rows, padded with zeros, into columns of `out`.
template <typename T>
HWY_INLINE void short_block(const Matrix<T>& m, std::size_t r, std::size_t rows, std::size_t c,
                            T* HWY_RESTRICT out, std::size_t out_stride) {
  constexpr std::size_t kN = kPiece<T>;
  const hn::FixedTag<T, kN> d;
  hn::Vec<decltype(d)> block[kN];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kN; ++i)
    block[i] = i < rows ? hn::LoadU(d, m.from(r + i, c)) : hn::Zero(d);
  turn<T>(block);
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kN; ++i) hn::StoreU(block[i], d, out + i * out_stride);
}

// The same if nothing may be written after the rows.
template <typename T>
void last_rows(const Matrix<T>& m, std::size_t r, std::size_t rows, std::size_t c) {
  constexpr std::size_t kN = kPiece<T>;
  HWY_ALIGN T out[kN * kN];
  short_block(m, r, rows, c, out, kN);
  for (std::size_t i = 0; i < kN; ++i) std::memcpy(m.to(r, c + i), out + i * kN, rows * sizeof(T));
}

template <typename T>
HWY_INLINE void fetch(const Matrix<T>& m, std::size_t begin, std::size_t end, std::size_t c) {
#if HWY_ARCH_X86
  // Into the second-level cache, which hn::Prefetch() does not support.
  if (m.ahead == kByPages) {
    constexpr std::size_t kBytes = 256;
    const auto* first = reinterpret_cast<const std::byte*>(m.from(begin, 0));
    const std::size_t bytes = c == 0 ? (end - begin) * m.source_stride * sizeof(T) : 0;
    for (std::size_t at = 0; at < bytes; at += kBytes) fetch_pages<kBytes>(first + at);
    return;
  }
  for (std::size_t r = begin; r < end; ++r)
    __builtin_prefetch(reinterpret_cast<const std::byte*>(m.from(r, c)) + m.ahead, 0, 2);
#else
  (void)m, (void)begin, (void)end, (void)c;
#endif
}

#if HWY_MAX_BYTES >= 32
// Four (two) vectors of 16-byte blocks become the vectors of their first blocks, second blocks, ...
template <typename D, typename V>
HWY_INLINE void turn_blocks(D d, const V* in, V* out) {
#if HWY_MAX_BYTES >= 64
  V even[2];
  V odd[2];
#pragma GCC unroll 2
  for (std::size_t i = 0; i < 2; ++i) {
    even[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(in[2 * i + 1]), in[2 * i]);
    odd[i] = hn::OddEvenBlocks(in[2 * i + 1], hn::SwapAdjacentBlocks(in[2 * i]));
  }
  out[0] = hn::ConcatLowerLower(d, even[1], even[0]);
  out[1] = hn::ConcatLowerLower(d, odd[1], odd[0]);
  out[2] = hn::ConcatUpperUpper(d, even[1], even[0]);
  out[3] = hn::ConcatUpperUpper(d, odd[1], odd[0]);
#else
  out[0] = hn::ConcatLowerLower(d, in[1], in[0]);
  out[1] = hn::ConcatUpperUpper(d, in[1], in[0]);
#endif
}

// Transposes kGroups * kPiece rows, padded with zeros, and a vector of columns, from whole vectors
// of each row. Target columns have that number of rows and no gaps, or the size of a vector.
template <std::size_t kGroups, typename T>
HWY_INLINE void vector_block(const Matrix<T>& m, std::size_t c) {
  constexpr std::size_t kN = kPiece<T>;
  constexpr std::size_t kBlocks = HWY_MAX_BYTES / 16;
  const hn::FixedTag<T, HWY_MAX_BYTES / sizeof(T)> d;
  using V = hn::Vec<decltype(d)>;
  V turned[kN * kGroups];
#pragma GCC unroll 4
  for (std::size_t g = 0; g < kGroups; ++g) {
    V block[kN];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kN; ++i) {
      const std::size_t row = g * kN + i;
      block[i] = row < m.rows ? hn::LoadU(d, m.from(row, c)) : hn::Zero(d);
    }
    turn<T>(block);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kN; ++i) turned[i * kGroups + g] = block[i];
  }
#pragma GCC unroll 64
  for (std::size_t i = 0; i < kN * kGroups; i += kBlocks) {
    V out[kBlocks];
    turn_blocks(d, turned + i, out);
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kBlocks; ++b)
      hn::StoreU(out[b], d, m.to(i % kGroups * kN, c + b * kN + i / kGroups));
  }
}

// For target columns that are a part of a vector without gaps, or a whole vector. Returns the
// number of columns that are done.
template <std::size_t kGroups, typename T>
std::size_t by_vectors(const Matrix<T>& m) {
  constexpr std::size_t kColumns = HWY_MAX_BYTES / sizeof(T);
  constexpr std::size_t kBlocks = HWY_MAX_BYTES / 16;
  std::size_t c = 0;
  if constexpr (kPiece<T> * kGroups % kBlocks == 0 && kGroups <= kBlocks) {
    const std::size_t rows = kGroups * kPiece<T>;
    const bool gapless = m.target_stride == rows && m.width == rows;
    if (!gapless && !(kGroups == kBlocks && m.rows == rows)) return 0;
    for (; m.columns - c >= kColumns; c += kColumns) {
      if (m.ahead != 0) fetch(m, 0, m.rows, c);
      vector_block<kGroups>(m, c);
    }
  }
  return c;
}
#endif

// Transposes the rows [begin, end) of kPiece columns.
template <typename T>
HWY_INLINE void column_block(const Matrix<T>& m, std::size_t begin, std::size_t end,
                             std::size_t c) {
  constexpr std::size_t kN = kPiece<T>;
  std::size_t r = begin;
#if HWY_MAX_BYTES >= 64
  for (; end - r >= 4 * kN; r += 4 * kN) whole_block<4>(m, r, c);
#endif
#if HWY_MAX_BYTES >= 32
  for (; end - r >= 2 * kN; r += 2 * kN) whole_block<2>(m, r, c);
#endif
  for (; end - r >= kN; r += kN) whole_block<1>(m, r, c);
  if (r == end) return;
  if (r + kN <= m.width)
    short_block(m, r, end - r, c, m.to(r, c), m.target_stride);
  else if (end >= kN)
    whole_block<1>(m, end - kN, c);  // some rows a second time
  else
    last_rows(m, r, end - r, c);
}

// At least kPiece columns: tiles of a cache line on either side.
template <typename T>
void by_tiles(const Matrix<T>& m) {
  constexpr std::size_t kN = kPiece<T>;
  std::size_t done = 0;
#if HWY_MAX_BYTES >= 32
  if (done == 0) done = by_vectors<1>(m);
  if (done == 0) done = by_vectors<2>(m);
  if (done == 0) done = by_vectors<4>(m);
#endif
  for (std::size_t c = done; c < m.columns; c += kLine<T>) {
    const std::size_t columns = std::min(kLine<T>, m.columns - c);
    for (std::size_t r = 0; r < m.rows; r += kLine<T>) {
      const std::size_t end = std::min(r + kLine<T>, m.rows);
      if (m.ahead != 0) fetch(m, r, end, c);
      std::size_t at = 0;
      for (; columns - at >= kN; at += kN) column_block(m, r, end, c + at);
      if (at < columns) column_block(m, r, end, m.columns - kN);  // some columns a second time
    }
  }
}

// For two to four rows, some of which may be padding, whose columns are contiguous.
template <typename T>
void interleave(const Matrix<T>& m) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; m.columns - c >= lanes; c += lanes) {
    if (m.ahead != 0) fetch(m, 0, m.rows, c);
    T* const target = m.to(0, c);
    const auto row = [&](std::size_t r) {
      return r < m.rows ? hn::LoadU(d, m.from(r, c)) : hn::Zero(d);
    };
    if (m.width == 2)
      hn::StoreInterleaved2(row(0), row(1), d, target);
    else if (m.width == 3)
      hn::StoreInterleaved3(row(0), row(1), row(2), d, target);
    else
      hn::StoreInterleaved4(row(0), row(1), row(2), row(3), d, target);
  }
  copy_each(m, 0, m.rows, c, m.columns - c);
}

// Writes a vector of each column, for rows of two to four elements, the first of which are columns.
template <typename T>
HWY_INLINE void deinterleave_vector(const Matrix<T>& m, std::size_t r, const T* rows,
                                    std::size_t row_elements) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> column[4];
  if (row_elements == 2)
    hn::LoadInterleaved2(d, rows, column[0], column[1]);
  else if (row_elements == 3)
    hn::LoadInterleaved3(d, rows, column[0], column[1], column[2]);
  else
    hn::LoadInterleaved4(d, rows, column[0], column[1], column[2], column[3]);
  for (std::size_t c = 0; c < m.columns; ++c) hn::StoreU(column[c], d, m.to(r, c));
}

// For contiguous rows of two to four elements. Nothing is read after the columns of the last row.
template <typename T>
void deinterleave(const Matrix<T>& m) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t whole_rows = m.rows - (m.columns < m.source_stride ? 1 : 0);
  std::size_t r = 0;
  for (; whole_rows - r >= lanes; r += lanes) {
    if (m.ahead != 0) fetch(m, r, r + lanes, 0);
    deinterleave_vector(m, r, m.from(r, 0), m.source_stride);
  }
  copy_each(m, r, m.rows - r, 0, m.columns);
}

// For rows of eight elements, of which at most the first four are columns: the halves of the rows
// are rows of four.
template <typename T>
void deinterleave_halves(const Matrix<T>& m) {
  using Half = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  const hn::ScalableTag<Half> d;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t whole_rows = m.rows - 1;
  HWY_ALIGN T rows[std::size_t{4} * HWY_MAX_BYTES / sizeof(T)];
  std::size_t r = 0;
  for (; whole_rows - r >= lanes; r += lanes) {
    if (m.ahead != 0) fetch(m, r, r + lanes, 0);
    const auto* source = reinterpret_cast<const Half*>(m.from(r, 0));
    auto* target = reinterpret_cast<Half*>(rows);
    const std::size_t n = hn::Lanes(d);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i)
      hn::Store(hn::ConcatEven(d, hn::LoadU(d, source + (2 * i + 1) * n),
                               hn::LoadU(d, source + 2 * i * n)),
                d, target + i * n);
    deinterleave_vector(m, r, rows, 4);
  }
  copy_each(m, r, m.rows - r, 0, m.columns);
}

// For fewer than kPiece columns. Bytes that are read beyond them are inside the following rows.
template <typename T>
void few_columns(const Matrix<T>& m) {
  constexpr std::size_t kN = kPiece<T>;
  std::size_t r = 0;
  if (m.source_stride != 0) {
    const std::size_t behind = (kN - m.columns + m.source_stride - 1) / m.source_stride;
    const hn::FixedTag<T, kN> d;
    for (; r + kN + behind <= m.rows; r += kN) {
      if (m.ahead != 0) fetch(m, r, r + kN, 0);
      hn::Vec<decltype(d)> block[kN];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kN; ++i) block[i] = hn::LoadU(d, m.from(r + i, 0));
      turn<T>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kN; ++i)
        if (i < m.columns) hn::StoreU(block[i], d, m.to(r, i));
    }
  }
  copy_each(m, r, m.rows - r, 0, m.columns);
}

template <typename T>
void transpose_all(const Matrix<T>& m) {
  const auto few = [](std::size_t n) { return n >= 2 && n <= 4 && n < kPiece<T>; };
  const bool gaps = m.columns < m.source_stride;
  if (few(m.width) && m.target_stride == m.width)
    interleave(m);
  else if (m.rows != 0 && (few(m.source_stride) || (m.source_stride == 4 && gaps)) &&
           m.columns <= m.source_stride)
    deinterleave(m);
  else if (sizeof(T) <= 2 && m.rows != 0 && m.source_stride == 8 && m.columns <= 4)
    deinterleave_halves(m);
  else if (m.columns < kPiece<T>)
    few_columns(m);
  else
    by_tiles(m);
}

#endif  // HWY_TARGET == HWY_SCALAR

template <typename T>
void transpose_as(const Transpose& job) {
  // Elements need not be aligned for their type; nothing but vector loads and memcpy touches them.
  transpose_all<T>({.source = reinterpret_cast<const T*>(job.source),
                    .source_stride = job.source_stride,
                    .target = reinterpret_cast<T*>(job.target),
                    .target_stride = job.target_stride,
                    .rows = job.rows,
                    .columns = job.columns,
                    .width = std::max(job.width, job.rows),
                    .ahead = job.ahead});
}

void transpose_matrix(const Transpose& job) {
  if (job.element_bytes == 1)
    transpose_as<std::uint8_t>(job);
  else if (job.element_bytes == 2)
    transpose_as<std::uint16_t>(job);
  else if (job.element_bytes == 4)
    transpose_as<std::uint32_t>(job);
  else
    transpose_as<std::uint64_t>(job);
}

}  // namespace
}  // namespace btf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace btf {

void transpose(const Transpose& job) { BTF_SIMD_CALL(transpose_matrix)(job); }

}  // namespace btf
#endif
