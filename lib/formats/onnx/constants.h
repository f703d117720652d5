// The values of Constant nodes: tensors, and numbers that are read as tensors.
#pragma once

#include <optional>

#include "btf/error.h"
#include "formats/onnx/model.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/protobuf/reader.h"

namespace btf {

// A node's value, named after its output. Nothing: it is no Constant, or its value is an argument
// of the function around it.
Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node);

// The tensor of an entry that is not sparse.
Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry);

}  // namespace btf
