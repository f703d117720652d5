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

// Of a type whose own name says only how wide it is, the spec may say what it is.
Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec);

// The array must fill its place to the byte.
Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type);

// What its elements are read from; nothing: the source as it is.
std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type);

}  // namespace btf
