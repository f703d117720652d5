// Boxes whose elements stand side by side in row-major order.
#pragma once

#include "btf/dtype.h"
#include "core/buffer.h"
#include "elements/slab_io.h"

namespace btf {

Mapping row_major(const Dims& counts);

// The slab itself if it is so already, else a copy in `buffer`.
SourceSlab in_row_major(const SourceSlab& slab, const Dims& counts, DType dtype, Buffer& buffer);

}  // namespace btf
