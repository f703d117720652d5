// Dense tensors in memory that Python keeps.
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

// An array whose content nobody has set, at a multiple of 256. Where setting all of it is certain,
// that saves touching the memory twice.
Array unset_array(DType dtype, Layout layout, StridedLayout storage);

}  // namespace btf::python
