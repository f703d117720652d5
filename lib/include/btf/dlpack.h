// Tensors from and to other libraries in memory, by DLPack (docs/dlpack.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "btf/api.h"
#include "btf/dlpack_abi.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"
#include "btf/tensor_view.h"

namespace btf {

// A dense tensor in memory that someone keeps for as long as `owner` lives.
struct SharedTensor {
  DType dtype{};
  StridedLayout storage;
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
  bool read_only = false;

  TensorView view() const { return {dtype, storage, bytes}; }
  MutableTensorView mutable_view() const { return {dtype, storage, bytes}; }
};

// How the lanes of a layout like kCHW4, which no strides can say, leave the library.
enum class LaneForm : std::uint8_t {
  lanes,         // shape [N, blocks of C, H, W], elements of so many lanes
  trailing_dim,  // shape [N, blocks of C, H, W, lanes]: for users that take one lane only
};

// Data whose size is 0 has no address. The deleter gives the owner back, once; call it when done.
// The shape is the logical one wherever strides can say the layout. Refused here, and to be had as
// versioned: what must not be written, and dtypes that came with DLPack 1.1, 4-bit ones among them.
BTF_API Result<dlpack::DLManagedTensor*> to_dlpack(const SharedTensor& tensor,
                                                   LaneForm form = LaneForm::lanes);

// `copied`: nobody else sees the memory (kFlagIsCopied).
BTF_API Result<dlpack::DLManagedTensorVersioned*> to_dlpack_versioned(
    const SharedTensor& tensor, LaneForm form = LaneForm::lanes, bool copied = false);

// The tensor as it is, for as long as its producer keeps it; lanes become one more dim, the last.
// Strides may be absent, in any order, or 0. An error for each thing that cannot be.
BTF_API Result<MutableTensorView> from_dlpack(const dlpack::DLTensor& tensor);

// The same, but keeps the tensor: the deleter runs with the last copy of the result.
// After an error the tensor is still the caller's.
BTF_API Result<SharedTensor> take_dlpack(dlpack::DLManagedTensor* tensor);
BTF_API Result<SharedTensor> take_dlpack(dlpack::DLManagedTensorVersioned* tensor);

}  // namespace btf
