// The codes of a part of one side of a comparison.
#pragma once

#include <cstddef>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "diff/pairs/side.h"
#include "picture/numbers.h"

namespace btf {

// buffer_bytes() each, in the row-major order of the part.
Result<std::vector<std::byte>> side_codes(const DiffSide& side, const PicturePart& part,
                                          const Execution& execution);

}  // namespace btf
