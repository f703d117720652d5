// Finding elements that are not finite numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"

namespace btf {

// Is there NaN or Inf among `count` elements that stand side by side, buffer_bytes() each?
bool any_special(DType dtype, const std::byte* codes, std::uint64_t count);

}  // namespace btf
