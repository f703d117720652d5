// Files without a header: one tensor, described by a spec or by the name that trtexec gave it.
#pragma once

#include <memory>

#include "formats/format.h"

namespace btf {

// Including the padding after the last element.
std::optional<std::uint64_t> raw_bytes(const OpenRequest& request);
Result<bool> recognizes_raw(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_raw(const ByteSource& source,
                                               const OpenRequest& request);
Status check_raw(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> raw_writer(const WriteRequest& request);

}  // namespace btf
