// Sources of few codes: what each becomes is looked up in vectors, byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

inline constexpr std::size_t kFewCodes = 16;

// Types of 4 bits, and bool, of which any byte but 0 is 1.
constexpr bool has_few_codes(const DTypeInfo& row) {
  return row.half_byte() || row.kind == NumberKind::boolean;
}

// The result of each code.
struct FewCodes {
  std::size_t target_bytes = 1;
  // Codes above are as this one.
  std::uint8_t most = kFewCodes - 1;
  // Byte b of what becomes of code c is planes[b][c].
  std::array<std::array<std::uint8_t, kFewCodes>, sizeof(std::uint64_t)> planes{};
};

// Elements that stand side by side, one code a byte in the source.
struct FewCodesRun {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t ahead = 0;  // as of CastRuns
  bool stream = false;       // likewise
};

// Has the instruction set in use what it takes?
bool has_code_lookup();

void cast_few_codes(const FewCodes& codes, const FewCodesRun& run);

using CodeMarks = std::array<std::uint8_t, kFewCodes>;

// How many elements have a code whose mark is 1, not 0.
std::uint64_t count_marked(const FewCodes& codes, const FewCodesRun& run, const CodeMarks& marks);

// Bit c is set if an element has code c.
std::uint32_t seen_codes(const FewCodes& codes, const FewCodesRun& run);

}  // namespace btf
