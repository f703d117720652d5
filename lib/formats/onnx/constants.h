// What Constant nodes hold: tensors, and numbers that stand for some.
#pragma once

#include <optional>

#include "btf/error.h"
#include "formats/onnx/model.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/protobuf/reader.h"

namespace btf {

// Of a node, called after what it gives. Nothing: it is no Constant, or its value is an argument of
// the function that it stands in.
Result<std::optional<OnnxEntry>> find_onnx_constant(Window& window, const ProtoRange& node);

// The tensor of an entry that is not sparse.
Result<OnnxTensor> read_onnx_entry(Window& window, const OnnxEntry& entry);

}  // namespace btf
