// What others do with the same tensors.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/measure.h"
#include "btf/layout.h"

namespace bench {

struct Reorder {
  btf::DType from;
  btf::Layout from_layout;
  btf::DType to;
  btf::Layout to_layout;
};

// oneDNN's reorder; nothing where it was not found or has no such types and tags.
std::optional<Work> onednn_reorder(const Reorder& job, const btf::Dims& dims,
                                   const std::byte* source, std::byte* target, unsigned threads);

}  // namespace bench
