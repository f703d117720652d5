// ONNX files: which message a file is, their check, and writing tensors as .pb.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "btf/error.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"

namespace btf {

// The kind of a protocol buffers file. There is no magic number, so all of its fields are examined.

enum class OnnxKind : std::uint8_t { model, tensor, sequence, other };

// Examines all fields. An error if the file is not a message.
Result<OnnxKind> onnx_kind(const ByteSource& source);

// Returns true if the file begins like one of these, whatever follows.
Result<bool> onnx_begins(const ByteSource& source);

// ONNX: a tensor in a .pb file, and the initializers of a model.

inline constexpr std::string_view kOnnxModelEnding = ".onnx";
inline constexpr std::string_view kOnnxTensorEnding = ".pb";

// Recognised by name, or without a name if it comes through a pipe, and by all of its fields, since
// a message has no magic number.
Result<bool> recognizes_onnx(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_onnx(const ByteSource& source,
                                                const OpenRequest& request);

// Also decodes values that are stored as varints.
Status check_onnx(const TensorFile& file, const FindingSink& report);

// Writes a single tensor.
std::unique_ptr<TensorWriter> onnx_writer(const WriteRequest& request);

Result<bool> begins_as_onnx(const ByteSource& beginning);
std::unique_ptr<StreamBound> onnx_bound();

// Files of a SequenceProto or OptionalProto: values of test data that are not single tensors. Both
// have the same fields with the same numbers and cannot be distinguished.

// The tensors in it, in order, including those of nested sequences, maps and optionals. An error if
// the file is not a sequence.
Result<OnnxModel> read_onnx_sequence(const ByteSource& source);

}  // namespace btf
