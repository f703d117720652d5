// Outputs that trtexec --exportOutput wrote: JSON with every value as text. Read only.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

// Returns true if such a file may begin with `start`, for which a few hundred bytes are enough.
bool begins_as_trtexec_outputs(std::string_view start);

Result<bool> recognizes_trtexec(const ByteSource& source, const OpenRequest& request);

// A spec may give the dtype; without it values are float32.
Result<std::unique_ptr<TensorReader>> open_trtexec(const ByteSource& source,
                                                   const OpenRequest& request);

// Parses all values.
Status check_trtexec(const TensorFile& file, const FindingSink& report);

}  // namespace btf
