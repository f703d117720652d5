// Exchanges tensors in memory with other libraries by DLPack (docs/dlpack.md).
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

namespace btf {

// A dense tensor in memory, which is valid as long as `owner` lives.
struct SharedTensor {
  DType dtype{};
  StridedLayout storage;
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
  bool read_only = false;

  TensorView view() const { return {dtype, storage, bytes}; }
  MutableTensorView mutable_view() const { return {dtype, storage, bytes}; }
};

// How layouts such as kCHW4, which strides alone cannot describe, are passed on.
enum class LaneForm : std::uint8_t {
  lanes,         // shape [N, blocks of C, H, W], with DLPack elements of several lanes
  trailing_dim,  // shape [N, blocks of C, H, W, lanes]: for libraries that support one lane only
};

// Passes a tensor on. The receiver must call the deleter once, which releases the owner. The shape
// is the logical one whenever strides can describe the layout. Data of size 0 has a null address.
// An error for tensors that must not be written and for dtypes that DLPack has only since 1.1, such
// as 4-bit types: use the versioned form for these.
BTF_API Result<dlpack::DLManagedTensor*> to_dlpack(const SharedTensor& tensor,
                                                   LaneForm form = LaneForm::lanes);

// `copied` says that nobody else uses the memory (kFlagIsCopied).
BTF_API Result<dlpack::DLManagedTensorVersioned*> to_dlpack_versioned(
    const SharedTensor& tensor, LaneForm form = LaneForm::lanes, bool copied = false);

// Views a tensor of another library, which must keep it alive. Lanes become an additional last dim.
// Strides may be absent, in any order, or 0. An error if the tensor is not on the CPU, or is not
// supported for another reason.
BTF_API Result<MutableTensorView> from_dlpack(const dlpack::DLTensor& tensor);

// Takes ownership: the deleter is called when the last copy of the result is destroyed. After an
// error the tensor still belongs to the caller.
BTF_API Result<SharedTensor> take_dlpack(dlpack::DLManagedTensor* tensor);
BTF_API Result<SharedTensor> take_dlpack(dlpack::DLManagedTensorVersioned* tensor);

}  // namespace btf
