// Elements of a tensor in a file: all of them in memory, or single ones.
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
#include "btf/tensor_view.h"

namespace btf {

// Indices begin, begin + step, ... below end of one dim: ceil((end - begin) / step) of them.
// begin <= end <= the dim, step >= 1; a reversed order is no box.
struct DimRange {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end{};  // nothing: the dim's
  std::uint64_t step = 1;
};

struct ReadOptions {
  // A box of the tensor, a range for each logical dim; without any the whole tensor. The result has
  // as many dims. Read are the bytes that the box needs: gaps below 8 KiB between rows, whole frames
  // of compressed files and whole blocks of quantised ones with them; all indices of COO, since they
  // may be in any order. Duplicates outside of the box are not seen.
  std::vector<DimRange> region{};
  std::optional<DType> dtype{};    // nothing: the tensor's own
  std::optional<Layout> layout{};  // nothing: the tensor's own, of a COO tensor kLINEAR; dense
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  Execution execution{};
};

// Dtype and layout of read_tensor()'s result, whose dims are those of the region; storage_bytes()
// is its size.
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

// Into the caller's memory, whose dims are those of the region and whose dtype and layout count;
// those of the options do not. After an error the memory may hold anything.
BTF_API Result<LossAccount> read_tensor_into(const TensorFile& file, const TensorInfo& tensor,
                                             const MutableTensorView& target,
                                             const ReadOptions& options = {});

// The entries of a COO tensor as the file has them, in its order: rank numbers each, and a code each
// (of 4 bits two in a byte). The memory has just room for them. Indices are checked against the
// dims; whether one occurs twice is not looked at. After an error the memory may hold anything.
BTF_API Status read_coo(const TensorFile& file, const TensorInfo& tensor,
                        std::span<std::uint64_t> indices, std::span<std::byte> values,
                        const Execution& execution = {});

struct Element {
  std::uint64_t code = 0;  // the element's bits, zero above them
  // Offset of the byte that holds it, from the start of the file; nothing for an element that a COO
  // tensor does not store, whose bits are zero.
  std::optional<std::uint64_t> offset;
  bool high_nibble = false;  // 4-bit types: which half of the byte
};

// One read an element; a COO tensor is searched once for all of them. Every index must have the
// tensor's rank and lie inside its dims.
BTF_API Result<std::vector<Element>> read_elements(const TensorFile& file, const TensorInfo& tensor,
                                                   std::span<const Dims> indices);

}  // namespace btf
