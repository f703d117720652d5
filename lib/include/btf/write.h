// Tensors in memory, as a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/convert.h"
#include "btf/error.h"
#include "btf/execution.h"

namespace btf {

struct TensorToWrite {
  TensorView tensor;
  std::optional<DType> dtype{};    // in the file; nothing: as in memory
  Layout layout = Layout::linear;  // in the file; dense
};

struct WriteOptions {
  CastPolicy policy{};
  bool sync = false;  // survive a power cut
  Execution execution{};
};

// Writes a canonical BTF file, as convert() does, and returns its size in bytes.
BTF_API Result<std::uint64_t> write_tensors(const std::string& output,
                                            std::span<const TensorToWrite> tensors,
                                            const WriteOptions& options = {});

}  // namespace btf
