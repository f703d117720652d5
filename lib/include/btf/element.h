// Single elements of a tensor in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/file.h"

namespace btf {

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
