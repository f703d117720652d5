// Arrays with arbitrary strides, which have no layout's name, such as pitched buffers.
#pragma once

#include <vector>

#include "btf/layout.h"

namespace btf {

// `axes` may be in any order and must contain every dim once, a split one as blocks and lanes.
// Fails if elements overlap or the size does not fit 64 bits. The stored array ends with its last
// element.
Result<StridedLayout> strided(Dims dims, std::vector<StorageAxis> axes, DType dtype);

// The same array with its gaps turned into padding of its axes, so that it can be written front to
// back; it ends after the padding of the outermost axis. Fails if the strides are not multiples of
// one another.
Result<StridedLayout> with_padding(const StridedLayout& storage, DType dtype);

// Fails if a buffer of this many bytes is too small for the layout.
Status check_buffer(std::size_t bytes, const StridedLayout& storage, DType dtype);

}  // namespace btf
