// Casts integers to integers in vectors, clamped to the range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

// What the account needs of a run. The largest errors are those of the least and the largest
// number.
struct IntegerTally {
  std::uint64_t overflowed = 0;
  bool doubles = true;  // all numbers are exact doubles; if not, the next two are undefined
  double least = 0;
  double largest = 0;
};

// For contiguous elements; 4-bit ones take a byte each. nullptr if one of the two dtypes is not an
// integer, or the source has 4 bits.
using IntegerRunFn = IntegerTally (*)(const std::byte* source, std::byte* target,
                                      std::size_t count);
IntegerRunFn find_integer_run(DType from, DType to);

}  // namespace btf
