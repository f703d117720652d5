// The keys of a GGUF file as texts.
#pragma once

#include <map>
#include <string>

#include "btf/error.h"
#include "formats/gguf/header.h"

namespace btf {

// Numbers and texts are what they are, short arrays of numbers are in brackets. Of long texts and
// other arrays it is said what they are ("string[32000]"), as of all that is behind 16 MiB of them.
// What is not UTF-8 is left out.
Result<std::map<std::string, std::string>> gguf_metadata(const ByteSource& source,
                                                         const GgufHeader& header);

}  // namespace btf
