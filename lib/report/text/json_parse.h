// JSON that somebody else wrote, parsed within bounds.
#pragma once

#include <string>
#include <string_view>

#include "btf/error.h"
#include "report/text/json.h"

namespace btf::report {

// `what` it should be: "a report of btftool diff".
Result<Json> parse_json(const std::string& text, std::string_view what);

// The same of what people write: a name that comes twice in an object is an error.
Result<Json> parse_written_json(const std::string& text, std::string_view what);

}  // namespace btf::report
