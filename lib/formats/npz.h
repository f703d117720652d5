// NumPy's .npz: a zip file whose members are .npy files.
#pragma once

#include <memory>

#include "formats/format.h"

namespace btf {

// Any zip file: what has no arrays is refused by its own name.
Result<bool> recognizes_npz(const ByteSource& source, const OpenRequest& request);

// A spec tells the dtype of those arrays whose own says only how wide they are.
Result<std::unique_ptr<TensorReader>> open_npz(const ByteSource& source,
                                               const OpenRequest& request);

// Reads all members, for only so their crc is known to be right.
Status check_npz(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npz_writer(const WriteRequest& request);

}  // namespace btf
