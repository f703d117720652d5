#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/move/move.h"
#include "support/forced_level.h"
#include "support/random_bytes.h"

namespace btf::test {
namespace {

struct Case {
  std::size_t element_bytes;
  std::size_t rows;
  std::size_t columns;
  std::size_t source_gap = 0;  // elements behind each row
  std::size_t target_gap = 0;
  std::size_t zeros = 0;  // of the target's gap, that may be written
  std::size_t misaligned = 0;
  std::ptrdiff_t ahead = 128;
};

std::string text(const Case& c) {
  return std::to_string(c.element_bytes) + " bytes, " + std::to_string(c.rows) + " x " +
         std::to_string(c.columns) + ", gaps " + std::to_string(c.source_gap) + " " +
         std::to_string(c.target_gap) + ", zeros " + std::to_string(c.zeros) + ", misaligned " +
         std::to_string(c.misaligned);
}

// Source rows end where their memory ends, so that reading on is an error that sanitizers see.
bool turns(const Case& c) {
  const std::size_t source_stride = c.columns + c.source_gap;
  const std::size_t target_stride = c.rows + c.target_gap;
  const std::size_t source_size =
      c.rows == 0 ? 0 : ((c.rows - 1) * source_stride + c.columns) * c.element_bytes;
  const Bytes source = random_bytes(c.misaligned + source_size);
  Bytes target(c.misaligned + c.columns * target_stride * c.element_bytes + 64, kSentinel);
  for (std::size_t i = 0; i < c.columns; ++i)
    for (std::size_t b = 0; b < c.zeros * c.element_bytes; ++b)
      target[c.misaligned + (i * target_stride + c.rows) * c.element_bytes + b] = std::byte{0};
  Bytes expected = target;
  for (std::size_t r = 0; r < c.rows; ++r)
    for (std::size_t i = 0; i < c.columns; ++i)
      for (std::size_t b = 0; b < c.element_bytes; ++b)
        expected[c.misaligned + (i * target_stride + r) * c.element_bytes + b] =
            source[c.misaligned + (r * source_stride + i) * c.element_bytes + b];
  transpose({.element_bytes = c.element_bytes,
             .source = source.data() + c.misaligned,
             .source_stride = source_stride,
             .target = target.data() + c.misaligned,
             .target_stride = target_stride,
             .rows = c.rows,
             .columns = c.columns,
             .width = c.zeros == 0 ? 0 : c.rows + c.zeros,
             .ahead = c.ahead});
  return target == expected;
}

}  // namespace

TEST_CASE("transpose: all sizes up to two tiles, on every instruction set", "[transpose]") {
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    INFO(cpu_level_name(level));
    for (const std::size_t bytes : {1U, 2U, 4U, 8U}) {
      const std::size_t most = 2 * 64 / bytes + 2;
      for (std::size_t rows = 0; rows <= most; ++rows)
        for (std::size_t columns = 0; columns <= most; ++columns) {
          const Case c{bytes, rows, columns};
          if (!turns(c)) FAIL(text(c));
        }
    }
  }
}

TEST_CASE("transpose: gaps, zeros and any alignment", "[transpose]") {
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    INFO(cpu_level_name(level));
    for (const std::size_t bytes : {1U, 2U, 4U, 8U})
      for (const std::size_t rows : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 15U, 31U, 64U, 70U, 131U})
        for (const std::size_t columns : {1U, 2U, 3U, 4U, 5U, 9U, 16U, 33U, 70U, 131U})
          for (const std::size_t source_gap : {0U, 1U, 3U, 21U})
            for (const auto& [target_gap, zeros] : std::vector<std::pair<std::size_t, std::size_t>>{
                     {0, 0}, {1, 0}, {1, 1}, {5, 3}, {9, 9}, {20, 15}, {33, 33}})
              for (const std::size_t misaligned : {0U, 1U, 13U}) {
                const Case c{bytes, rows, columns, source_gap, target_gap, zeros, misaligned};
                if (!turns(c)) FAIL(text(c));
              }
  }
}

TEST_CASE("transpose: few columns of longer rows", "[transpose]") {
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    INFO(cpu_level_name(level));
    for (const std::size_t bytes : {1U, 2U, 4U, 8U})
      for (std::size_t rows = 0; rows <= 3 * 64 / bytes + 2; ++rows)
        for (std::size_t columns = 1; columns <= 5; ++columns)
          for (std::size_t stride = columns; stride <= 9; ++stride)
            for (const std::ptrdiff_t ahead : {std::ptrdiff_t{0}, kByPages}) {
              const Case c{bytes, rows, columns, stride - columns, rows % 3, 0, rows % 2, ahead};
              if (!turns(c)) FAIL(text(c));
            }
  }
}

}  // namespace btf::test
