// ONNX: a tensor in a .pb file, and the initializers of a model.
#pragma once

#include <memory>
#include <string_view>

#include "formats/interface/format.h"

namespace btf {

inline constexpr std::string_view kOnnxModelEnding = ".onnx";
inline constexpr std::string_view kOnnxTensorEnding = ".pb";

// By its name, or without one what comes through a pipe, and by all of its fields: a message has no
// magic number.
Result<bool> recognizes_onnx(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_onnx(const ByteSource& source,
                                                const OpenRequest& request);
// Reads the values that stand one by one.
Status check_onnx(const TensorFile& file, const FindingSink& report);

// One tensor.
std::unique_ptr<TensorWriter> onnx_writer(const WriteRequest& request);

Result<bool> begins_as_onnx(const ByteSource& beginning);
std::unique_ptr<StreamBound> onnx_bound();

}  // namespace btf
