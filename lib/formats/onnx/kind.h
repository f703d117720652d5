// The kind of a protocol buffers file. There is no magic number: all of its fields decide.
#pragma once

#include <cstdint>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

enum class OnnxKind : std::uint8_t { model, tensor, sequence, other };

// By its fields, all of which are looked at: nothing else tells. An error: it is no message.
Result<OnnxKind> onnx_kind(const ByteSource& source);

// Does it begin as one of these, whatever follows?
Result<bool> onnx_begins(const ByteSource& source);

}  // namespace btf
