// Layouts: the table with a row for each, and arrays with strides of their own, such as pitched
// buffers.
#pragma once

#include <vector>

#include "btf/layout.h"

namespace btf {

// Arrays with strides of their own: pitched buffers, and whatever else has no layout's name.

// `axes` in any order, every dim once (a split one as blocks and lanes). Refuses elements that
// overlap, and sizes that do not fit 64 bits. The stored array ends with its last element.
Result<StridedLayout> strided(Dims dims, std::vector<StorageAxis> axes, DType dtype);

// The same array with the gaps as padding of its axes, so that it can be written front to back and
// ends behind the padding of the outermost. Refuses strides that are no multiples of one another.
Result<StridedLayout> with_padding(const StridedLayout& storage, DType dtype);

// True if a buffer of this many bytes holds everything that the layout stores.
Status check_buffer(std::size_t bytes, const StridedLayout& storage, DType dtype);

}  // namespace btf
