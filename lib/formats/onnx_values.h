// Tensors of ONNX files: values one by one, external data, and the reader.
#pragma once

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"

namespace btf {

// Values that stand in a TensorProto one by one, as a BTF file has them.

// The values of a tensor that is not in_place(). An error: a value that its type does not have,
// or more or fewer values than the dims say.
Result<Spool> read_onnx_values(const ByteSource& source, const OnnxTensor& tensor);

}  // namespace btf
