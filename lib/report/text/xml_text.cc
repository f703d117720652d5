#include "report/text/xml_text.h"

#include <fmt/format.h>

#include <cstddef>

#include "report/text/characters.h"

namespace btf::report {
namespace {

// Bytes of the character that `text` begins with; 0 if it is no UTF-8, or a code point that XML has
// no place for.
std::size_t character(std::string_view text) {
  const Character next = decode(text);
  return next.code == 0xfffe || next.code == 0xffff ? 0 : next.bytes;
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

}  // namespace btf::report
