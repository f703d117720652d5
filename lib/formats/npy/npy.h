// NumPy's .npy: one array, by its own name in a header.
#pragma once

#include <memory>

#include "formats/interface/format.h"

namespace btf {

Result<bool> recognizes_npy(const ByteSource& source, const OpenRequest& request);
// A spec tells the dtype of an array whose own says only how wide it is.
Result<std::unique_ptr<TensorReader>> open_npy(const ByteSource& source,
                                               const OpenRequest& request);
Status check_npy(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npy_writer(const WriteRequest& request);

std::unique_ptr<StreamBound> npy_bound();

}  // namespace btf
