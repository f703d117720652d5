// Elements whose bits are taken for something else than they are.
#pragma once

#include <optional>
#include <string_view>

#include "diff/hints/models/element_map.h"

namespace btf::hints {

// A change of the bits of a code before it is read.
struct BitChange {
  std::string_view what;  // "its bytes reversed"
  Cause cause{};
  unsigned least_bits = 0;
  unsigned most_bits = 0;
  std::uint64_t (*apply)(std::uint64_t code, unsigned bits) = nullptr;
};

std::span<const BitChange> bit_changes();

// Takes the values of a side for `taken_as` (exact, or it is no number; or rounded to it), changes
// the bits and reads them as `is`. Both have the same width.
struct CodeReading {
  MovedSide side{};
  DType stored{};  // the side's
  DType taken_as{};
  DType is{};
  const BitChange* change = nullptr;  // nullptr: none
  bool rounded = false;
};

// The dtypes differ by the exponent of 1: numbers become this many times as large.
bool only_scales(const CodeReading& reading);

// "actual equals golden with its bytes reversed"
std::string reading_words(const CodeReading& reading);

ElementMap reading_map(const CodeReading& reading);

// A finding if the reading explains the tensor; `hypotheses`: how many are tried.
SearchResult try_reading(const Inquiry& inquiry, const CodeReading& reading, double hypotheses);

}  // namespace btf::hints
