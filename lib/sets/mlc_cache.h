// ndarray-cache.json, tensor-cache.json: the list of the shards that MLC LLM and TVM write
// parameters into, with names, types, shapes and offsets.
#pragma once

#include <memory>
#include <string>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "sets/index.h"

namespace btf {

Result<std::unique_ptr<SetIndex>> read_mlc_cache(const ByteSource& source, const std::string& path);

}  // namespace btf
