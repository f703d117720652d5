// TVM's parameters (".params"): many tensors with names, each behind a header of its own. What
// TVM's debug executor dumps is such a file.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

Result<bool> recognizes_tvm(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_tvm(const ByteSource& source,
                                               const OpenRequest& request);
Status check_tvm(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> tvm_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> tvm_bound();

}  // namespace btf
