// safetensors: many tensors with names behind one JSON header.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

Result<bool> recognizes_safetensors(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_safetensors(const ByteSource& source,
                                                       const OpenRequest& request);
Status check_safetensors(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> safetensors_writer(const WriteRequest& request);

}  // namespace btf
