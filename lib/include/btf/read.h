// Elements of a tensor in a file: all of them in memory, or single ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/dlpack.h"
#include "btf/duplicates.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/tensor_view.h"

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
  Layout layout{};
  StridedLayout storage;
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

struct Element {
  std::uint64_t code = 0;  // the element's bits, zero above them
  // Of the byte that holds it, from the start of the file; nothing for an element that a COO
  // tensor does not store, whose bits are zero.
  std::optional<std::uint64_t> offset;
  bool high_nibble = false;  // 4-bit types: which half of the byte
};

// One read an element; a COO tensor is searched once for all of them. Every index must have the
// tensor's rank and lie inside its dims.
BTF_API Result<std::vector<Element>> read_elements(const TensorFile& file, const TensorInfo& tensor,
                                                   std::span<const Dims> indices);

}  // namespace btf
