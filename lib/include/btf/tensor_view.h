// A dense tensor in the caller's memory.
#pragma once

#include <cstddef>
#include <span>

#include "btf/dtype.h"
#include "btf/layout.h"

namespace btf {

// `bytes` is the stored array: storage_bytes(storage, dtype) long.
struct TensorView {
  DType dtype{};
  StridedLayout storage;
  std::span<const std::byte> bytes;
};

struct MutableTensorView {
  DType dtype{};
  StridedLayout storage;
  std::span<std::byte> bytes;
};

}  // namespace btf
