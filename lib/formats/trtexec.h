// Outputs that trtexec --exportOutput wrote: JSON with every value as text. Read only; what the
// text does not say, it cannot.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

// Could this be the beginning of such a file? `start`: its first bytes, some hundred will do.
bool begins_as_trtexec_outputs(std::string_view start);

Result<bool> recognizes_trtexec(const ByteSource& source, const OpenRequest& request);

// A spec may tell the dtype; without it values are float32.
Result<std::unique_ptr<TensorReader>> open_trtexec(const ByteSource& source,
                                                   const OpenRequest& request);

// Reads all values.
Status check_trtexec(const TensorFile& file, const FindingSink& report);

}  // namespace btf
