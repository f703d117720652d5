// The types of ONNX's tensors (TensorProto.DataType).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "btf/dtype.h"

namespace btf {

struct OnnxType {
  std::uint8_t number = 0;  // the data_type
  std::string_view name;
  std::uint8_t field = 0;        // of a TensorProto that holds the values one by one
  std::optional<DType> dtype{};  // nothing: none stands for it
};

// nullptr: ONNX 1.23 has no such type.
const OnnxType* find_onnx_type(std::uint64_t number);
const OnnxType* onnx_type_of(DType dtype);

}  // namespace btf
