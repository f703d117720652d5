// The common case of a comparison: both sides hold the same finite numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

// Are `count` codes of buffer_bytes() each the same on both sides, without NaN or Inf among them?
bool same_finite_bits(DType dtype, const std::byte* a, const std::byte* b, std::uint64_t count);

}  // namespace btf
