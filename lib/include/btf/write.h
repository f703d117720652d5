// Writes tensors in memory to a file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/cast.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layout.h"

namespace btf {

struct TensorToWrite {
  TensorView tensor;
  std::optional<DType> dtype{};    // in the file; unset: as in memory
  Layout layout = Layout::linear;  // in the file; must be dense
  std::string name{};              // empty: without a name
};

struct WriteOptions {
  CastPolicy policy{};
  // "btf", "npy", ...; empty: by the extension of the name, see output_format() in convert.h.
  std::string format{};
  // Waits until the file is on the disk, so that it survives a power cut. Slow; off by default.
  bool sync = false;
  Execution execution{};
};

// Writes an uncompressed file and returns its size in bytes. The file is replaced atomically. An
// error if the format holds only one tensor and several are given, or a layout other than kLINEAR
// that it cannot hold.
BTF_API Result<std::uint64_t> write_tensors(const std::string& output,
                                            std::span<const TensorToWrite> tensors,
                                            const WriteOptions& options = {});

}  // namespace btf
