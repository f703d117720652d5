// Files of a SequenceProto or an OptionalProto: the values of test data that are no single tensor.
// Both have the same fields under the same numbers, and nothing in a file tells which it is.
#pragma once

#include "formats/onnx/model.h"

namespace btf {

// The tensors in it, in order; sequences, maps and optionals within are opened. An error: it is
// not a sequence.
Result<OnnxModel> read_onnx_sequence(const ByteSource& source);

}  // namespace btf
