// Integers to integers in vectors: what is beyond the range is clamped, nothing else changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

// The account's counts of a run: errors grow with the number.
struct IntegerTally {
  std::uint64_t overflowed = 0;
  bool doubles = true;  // are they all? Else the following two are undefined
  double least = 0;
  double largest = 0;
};

// Elements that stand side by side, 4-bit ones in a byte each. nullptr: one of the two is no
// integer of its own width, or the source has 4 bits.
using IntegerRunFn = IntegerTally (*)(const std::byte* source, std::byte* target,
                                      std::size_t count);
IntegerRunFn find_integer_run(DType from, DType to);

}  // namespace btf
