// Elements as real numbers, exactly: double holds every dtype but the 64-bit integers, long double
// holds those too.
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

// True if a double holds every value of the dtype.
bool fits_double(DType dtype);

// Wide runs of elements that stand side by side as doubles, one function per instruction set.

using WidenRunFn = void (*)(const std::byte* source, std::size_t count, double* out);

// nullptr where a table of values does as well. Integers of 64 bits become the nearest doubles.
WidenRunFn find_widen_run(DType dtype);

}  // namespace btf
