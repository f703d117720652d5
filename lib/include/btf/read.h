// A tensor of a file, whole, in memory.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/convert.h"
#include "btf/dlpack.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"

namespace btf {

struct ReadOptions {
  std::optional<DType> dtype{};    // nothing: the tensor's own
  std::optional<Layout> layout{};  // nothing: the tensor's own, of a COO tensor kLINEAR; dense
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  Execution execution{};
};

// What read_tensor() would give: its dtype and layout, and with storage_bytes() its size.
struct ReadShape {
  DType dtype{};
  Layout name{};
  Resolved layout;
};
BTF_API Result<ReadShape> read_shape(const TensorInfo& tensor, const ReadOptions& options = {});

struct LoadedTensor {
  SharedTensor tensor;  // its bytes start at a multiple of 256
  Layout layout{};
  LossAccount loss;
};

BTF_API Result<LoadedTensor> read_tensor(const TensorFile& file, const TensorInfo& tensor,
                                         const ReadOptions& options = {});

// Into the caller's memory, whose dtype and layout count; those of the options do not. After an
// error the memory may hold anything.
BTF_API Result<LossAccount> read_tensor_into(const TensorFile& file, const TensorInfo& tensor,
                                             const MutableTensorView& target,
                                             const ReadOptions& options = {});

}  // namespace btf
