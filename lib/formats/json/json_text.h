// Texts for JSON that is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace btf {

// In quotes, with the fewest escapes there can be; nothing: it is not UTF-8.
std::optional<std::string> json_quoted(std::string_view text);

}  // namespace btf
