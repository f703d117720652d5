// Converts elements exactly to real numbers: double is enough for every dtype except for the 64-bit
// integers, long double for those as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

template <typename Real>
using WidenFn = void (*)(const std::byte* source, std::uint64_t stride, std::uint64_t count,
                         Real* out);

// Real is double or long double.
template <typename Real>
WidenFn<Real> widener(DType dtype);

// Returns true if every value of the dtype is a double.
bool fits_double(DType dtype);

// Converts contiguous elements to doubles; 64-bit integers become the nearest doubles.
using WidenRunFn = void (*)(const std::byte* source, std::size_t count, double* out);

// The function for the instruction set in use; nullptr if a table of values is as fast.
WidenRunFn find_widen_run(DType dtype);

}  // namespace btf
