// Wide runs of elements that stand side by side as doubles, one function per instruction set.
#pragma once

#include <cstddef>

#include "btf/dtype.h"

namespace btf {

using WidenRunFn = void (*)(const std::byte* source, std::size_t count, double* out);

// nullptr where a table of values does as well. Integers of 64 bits become the nearest doubles.
WidenRunFn find_widen_run(DType dtype);

}  // namespace btf
