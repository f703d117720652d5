// The attributes of a BTF file as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "btf/attributes.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/json/token.h"

namespace btf {

// Errors are findings `names-attributes`.
Result<FileAttributes> read_attributes(const ByteSource& source, JsonExtent extent,
                                       std::uint64_t tensors);

// Canonical: the same attributes give the same bytes. Empty if there is nothing to say.
std::string attributes_text(const FileAttributes& attributes);

}  // namespace btf
