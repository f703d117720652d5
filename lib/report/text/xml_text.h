// Text as XML 1.0 can hold it.
#pragma once

#include <string>
#include <string_view>

namespace btf::report {

// Control characters that XML forbids as "\x1b"; U+FFFD for what is not UTF-8 or no character.
std::string xml_text(std::string_view text);

}  // namespace btf::report
