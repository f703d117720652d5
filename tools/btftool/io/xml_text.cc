#include "io/xml_text.h"

#include <fmt/format.h>

#include <cstddef>

namespace btftool {
namespace {

// Bytes of the character that `text` begins with; 0 if it is no UTF-8, or a code point that XML has
// no place for.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  unsigned code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool good = code >= kLeast[size] && code <= 0x10ffff && !surrogate;
  return good && code != 0xfffe && code != 0xffff ? size : 0;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t size = character(text);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else if (size == 0)
      result += "\xef\xbf\xbd";
    else
      result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace btftool
