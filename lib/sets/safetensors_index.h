// The index of a model in several safetensors files:
//   {"metadata":{..},"weight_map":{"NAME":"model-00001-of-00002.safetensors", ..}}
#pragma once

#include <memory>
#include <string>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

// An index of more bytes than a header may have is refused. Files are named without a folder: they
// lie beside the index.
Result<std::unique_ptr<SetIndex>> read_safetensors_index(const ByteSource& source,
                                                         const std::string& path);

}  // namespace btf
