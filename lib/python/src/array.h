// Dense tensors in memory that Python owns.
#pragma once

#include "btf/cast.h"
#include "btf/dlpack.h"
#include "btf/layout.h"

namespace btf::python {

struct Array {
  SharedTensor tensor;
  Layout layout{};
  LossAccount loss;
};

// An array with uninitialised content, aligned to 256 bytes. For callers that set all of it, this
// saves writing the memory twice.
Array unset_array(DType dtype, Layout layout, StridedLayout storage);

}  // namespace btf::python
