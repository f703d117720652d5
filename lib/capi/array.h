// Tensors in the caller's memory.
#pragma once

#include "btf/btf.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_view.h"

namespace btf::capi {

struct Array {
  TensorView view;
  Layout layout{};  // kLINEAR where strides are given
};

// Checked: dims, strides, size and alignment of the memory.
Result<Array> array_of(const btf_array* from);

}  // namespace btf::capi
