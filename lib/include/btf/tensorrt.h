// What TensorRT and the DLAs take of the shapes that can be laid out for them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/layout.h"

namespace btf {

// Why TensorRT, or the DLA that the layout is for, would not take these dims, or nothing. They have
// the layout's least rank. See tensorrt_objection(Layout, DType) too.
BTF_API std::optional<std::string> tensorrt_objection(Layout layout,
                                                      std::span<const std::uint64_t> dims);

}  // namespace btf
