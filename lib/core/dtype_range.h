// Consequences of the ranges of two dtypes.
#pragma once

#include "btf/dtype.h"

namespace btf {

// True if some value of `from`, Inf included, lies beyond the range of `to`. Bool takes any value.
bool can_overflow(DType from, DType to);

}  // namespace btf
