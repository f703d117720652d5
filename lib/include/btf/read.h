// Reads the elements of a tensor in a file: all of them, a box, or single ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/dlpack.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"

namespace btf {

// The indices begin, begin + step, ... below `end` of one dim: ceil((end - begin) / step) of them.
// Requires begin <= end <= the dim, and step >= 1.
struct DimRange {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end{};  // unset: to the end of the dim
  std::uint64_t step = 1;
};

struct ReadOptions {
  // A box of the tensor: one range for each logical dim. Empty: the whole tensor. The result has
  // the same rank. Only the bytes of the box are read, plus gaps below 8 KiB between rows, whole
  // frames of compressed files, whole blocks of quantised ones, and all indices of COO tensors,
  // which may be in any order. Duplicate COO indices outside of the box are not noticed.
  std::vector<DimRange> region{};
  std::optional<DType> dtype{};    // unset: the tensor's own
  std::optional<Layout> layout{};  // dense; unset: the tensor's own, or kLINEAR for a COO tensor
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  Execution execution{};
};

// What read_tensor() returns for these options, without reading elements. storage_bytes() of it is
// the size of the memory.
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

// Reads into the caller's memory, which must have the dims of the region. Dtype and layout are
// those of `target`, and not those of the options. After an error the memory may hold anything.
BTF_API Result<LossAccount> read_tensor_into(const TensorFile& file, const TensorInfo& tensor,
                                             const MutableTensorView& target,
                                             const ReadOptions& options = {});

// Reads the entries of a COO tensor in the order of the file: `rank` numbers and one value for each
// (4-bit values two to a byte). Both spans must have exactly the size needed. Indices are checked
// against the dims, but not for duplicates. After an error the memory may hold anything.
BTF_API Status read_coo(const TensorFile& file, const TensorInfo& tensor,
                        std::span<std::uint64_t> indices, std::span<std::byte> values,
                        const Execution& execution = {});

struct Element {
  std::uint64_t code = 0;  // the element's bits; higher bits are zero
  // Offset of the byte that holds it, from the start of the file. Unset for an element that a COO
  // tensor does not store; its bits are zero.
  std::optional<std::uint64_t> offset;
  bool high_nibble = false;  // 4-bit types: which half of the byte
};

// Reads single elements, with one read for each; a COO tensor is searched once for all of them.
// Every index must have the tensor's rank and be inside its dims.
BTF_API Result<std::vector<Element>> read_elements(const TensorFile& file, const TensorInfo& tensor,
                                                   std::span<const Dims> indices);

}  // namespace btf
