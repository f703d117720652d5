// A file of JSON that somebody else wrote: read and parsed within bounds.
#pragma once

#include <string>
#include <string_view>

#include "btf/error.h"
#include "io/json.h"

namespace btftool {

// All of a file; "-" is stdin.
btf::Result<std::string> read_text(const std::string& path);

// `what` it should be: "a report of btftool diff".
btf::Result<Json> parse_json(const std::string& text, std::string_view what);

// The same of what people write: a name that comes twice in an object is an error.
btf::Result<Json> parse_written_json(const std::string& text, std::string_view what);

}  // namespace btftool
