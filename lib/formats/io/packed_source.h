// Files as they are, also if they are compressed.
#pragma once

#include <memory>
#include <string>

#include "formats/io/byte_source.h"

namespace btf {

// As open_source(), but nothing is decompressed, and of a pipe everything is read.
Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path);

}  // namespace btf
