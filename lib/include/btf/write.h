// Tensors in memory, as a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/tensor_view.h"

namespace btf {

struct TensorToWrite {
  TensorView tensor;
  std::optional<DType> dtype{};    // in the file; nothing: as in memory
  Layout layout = Layout::linear;  // in the file; dense
  std::string name{};              // empty: none
};

struct WriteOptions {
  CastPolicy policy{};
  std::string format{};  // "btf", "npy", ...; empty: as the end of the name says, see convert.h
  bool sync = false;     // survive a power cut
  Execution execution{};
};

// Writes a file as convert() does, not compressed, and returns its size in bytes. A format that
// holds one tensor, or no layout but kLINEAR, refuses others.
BTF_API Result<std::uint64_t> write_tensors(const std::string& output,
                                            std::span<const TensorToWrite> tensors,
                                            const WriteOptions& options = {});

}  // namespace btf
