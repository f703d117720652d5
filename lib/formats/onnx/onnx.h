// ONNX: a tensor in a .pb file, and the initializers of a model.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

// By its name, or without one what comes through a pipe, and by all of its fields: a message has no
// magic number.
Result<bool> recognizes_onnx(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_onnx(const ByteSource& source,
                                                const OpenRequest& request);
// Reads the values that stand one by one.
Status check_onnx(const TensorFile& file, const FindingSink& report);

// One tensor.
std::unique_ptr<TensorWriter> onnx_writer(const WriteRequest& request);

}  // namespace btf
