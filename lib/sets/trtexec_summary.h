// tensor_summary.json, which trtexec --saveAllDebugTensors writes beside the files of tensors: what
// they are called, their types and shapes, in the order in which they were computed.
#pragma once

#include <memory>
#include <string>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

// One that was cut off, since the program did not come to its end, is read as far as it goes.
Result<std::unique_ptr<SetIndex>> read_trtexec_summary(const ByteSource& source,
                                                       const std::string& path);

}  // namespace btf
