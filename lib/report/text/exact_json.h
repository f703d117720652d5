// JSON of texts that may be of any bytes, as names of files are, which reading gives back.
#pragma once

#include <string>
#include <string_view>

#include "btf/error.h"
#include "report/text/json.h"

namespace btf::report {

// One line. In a text that is not UTF-8 each byte from 0x80 on that is in no character, or in one
// of U+10FE80 to U+10FEFF, becomes the character U+10FE00 + byte.
std::string dump_exact(Json json);
// `what`: as of parse_json().
Result<Json> parse_exact(std::string_view line, std::string_view what);

}  // namespace btf::report
