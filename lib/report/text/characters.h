// The characters of a text that comes from a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace btf::report {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first character of `text`, which is not empty. The shortest form only, no surrogates, nothing
// beyond U+10FFFF.
Character decode(std::string_view text);

// Neither seen nor harmless: controls, line and paragraph separators, marks that change the
// direction of text, tags, byte order marks, and codes that are no characters.
bool invisible(char32_t code);

// "\x1b" or "\u{202e}" for what is invisible, "\xff" for a byte that is not UTF-8; others as they
// are. Reads one character off the front of `text`.
std::string take_visible(std::string_view& text);

}  // namespace btf::report
