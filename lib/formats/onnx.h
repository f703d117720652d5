// Files of ONNX: which message a file is, its check, tensors written as .pb.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "btf/error.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"

namespace btf {

// The kind of a protocol buffers file. There is no magic number: all of its fields decide.

enum class OnnxKind : std::uint8_t { model, tensor, sequence, other };

// By its fields, all of which are looked at: nothing else tells. An error: it is no message.
Result<OnnxKind> onnx_kind(const ByteSource& source);

// Does it begin as one of these, whatever follows?
Result<bool> onnx_begins(const ByteSource& source);

// ONNX: a tensor in a .pb file, and the initializers of a model.

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

// Files of a SequenceProto or an OptionalProto: the values of test data that are no single tensor.
// Both have the same fields under the same numbers, and nothing in a file tells which it is.

// The tensors in it, in order; sequences, maps and optionals within are opened. An error: it is
// not a sequence.
Result<OnnxModel> read_onnx_sequence(const ByteSource& source);

}  // namespace btf
