// One array with its .npy header, wherever it stands in a source.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "btf/file.h"
#include "formats/io/byte_source.h"
#include "formats/npy/header.h"

namespace btf {

struct NpyType {
  DType dtype{};
  bool big_endian = false;
  bool spread = false;  // 4-bit codes in a byte each
};

// The spec may give the dtype where the descr has only a width.
Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec);

// The array must fill its range to the byte.
Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type);

// The source of its elements; nothing: the file's source as it is.
std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type);

}  // namespace btf
