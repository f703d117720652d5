#pragma once

#include <string_view>

namespace btf {

// As RFC 3629 has it: no overlong form, no half of a surrogate pair, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// Written by programs of Windows in front of text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace btf
