// Turning rows into columns: what every change between layouts of different order comes down to,
// lanes included.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

// target[c * target_stride + r] = source[r * source_stride + c] for r < rows, c < columns. Strides
// and counts are in elements of 1, 2, 4 or 8 bytes.
struct Transpose {
  std::uint64_t element_bytes = 1;
  const std::byte* source = nullptr;
  std::uint64_t source_stride = 0;
  std::byte* target = nullptr;
  std::uint64_t target_stride = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  // Elements of a target line, `rows` or more, that may be written: those behind `rows` are zero
  // and stay so.
  std::uint64_t width = 0;
  // Bytes from what is read to what will be read next, which is fetched into the second-level
  // cache meanwhile; 0: nothing; kByPages (stream.h) of rows one behind the other.
  std::ptrdiff_t ahead = 0;
};

void transpose(const Transpose& job);

}  // namespace btf
