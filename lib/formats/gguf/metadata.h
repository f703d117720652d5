// The keys of a GGUF file as texts.
#pragma once

#include <map>
#include <string>

#include "btf/error.h"
#include "formats/gguf/header.h"

namespace btf {

// Numbers and strings as they are, short arrays of numbers in brackets. Long strings and other
// arrays only as type and length ("string[32000]"), as is everything after the first 16 MiB.
// Strings that are not UTF-8 are left out.
Result<std::map<std::string, std::string>> gguf_metadata(const ByteSource& source,
                                                         const GgufHeader& header);

}  // namespace btf
