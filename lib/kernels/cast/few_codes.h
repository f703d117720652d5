// Casts of sources with at most 16 codes: the results are looked up in vectors, byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

inline constexpr std::size_t kFewCodes = 16;

// Types of 4 bits, and bool, where any byte except 0 is true.
constexpr bool has_few_codes(const DTypeInfo& row) {
  return row.half_byte() || row.kind == NumberKind::boolean;
}

// The result of each code.
struct FewCodes {
  std::size_t target_bytes = 1;
  // Codes above this have its result.
  std::uint8_t most = kFewCodes - 1;
  // planes[b][c] is byte b of the result of code c.
  std::array<std::array<std::uint8_t, kFewCodes>, sizeof(std::uint64_t)> planes{};
};

// Contiguous elements, with one code in each byte of the source.
struct FewCodesRun {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t ahead = 0;  // as in CastRuns
  bool stream = false;       // as in CastRuns
};

// Returns true if the instruction set in use can look up bytes.
bool has_code_lookup();

void cast_few_codes(const FewCodes& codes, const FewCodesRun& run);

using CodeMarks = std::array<std::uint8_t, kFewCodes>;

// The number of elements whose code has the mark 1, not 0.
std::uint64_t count_marked(const FewCodes& codes, const FewCodesRun& run, const CodeMarks& marks);

// Bit c is set if an element has code c.
std::uint32_t seen_codes(const FewCodes& codes, const FewCodesRun& run);

}  // namespace btf
