// Elements that were cast to another dtype and back.
#pragma once

#include "btf/cast.h"
#include "diff/hints/models/element_map.h"

namespace btf::hints {

// The elements of a side of dtype `stored`, as they are in `through`.
ElementMap cast_map(MovedSide side, DType stored, DType through, const CastPolicy& policy = {});

}  // namespace btf::hints
