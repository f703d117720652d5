// NumPy's .npz: a zip file whose members are .npy files.
#pragma once

#include <memory>

#include "formats/format.h"

namespace btf {

// Recognises any zip file; those without arrays are then refused with a message of their own.
Result<bool> recognizes_npz(const ByteSource& source, const OpenRequest& request);

// A spec gives the dtype of arrays whose own type only has a width.
Result<std::unique_ptr<TensorReader>> open_npz(const ByteSource& source,
                                               const OpenRequest& request);

// Reads all members, since only that verifies their CRCs.
Status check_npz(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npz_writer(const WriteRequest& request);

}  // namespace btf
