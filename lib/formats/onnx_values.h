// Tensors of ONNX files: values one by one, external data, and the reader.
#pragma once

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/onnx_model.h"

namespace btf {

// Decodes the values of a tensor that is not in_place(). An error if a value is not of its type, or
// if there are more or fewer values than the dims require.
Result<Spool> read_onnx_values(const ByteSource& source, const OnnxTensor& tensor);

}  // namespace btf
