#include "diff/reports/html/html_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "diff/reports/text.h"

namespace btftool {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The shortest form only, no surrogates, nothing beyond U+10FFFF.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char head = byte(0);
  if (head < 0x80) return {head, 1};
  const std::size_t bytes = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4 || text.size() < bytes) return {};
  char32_t code = head & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool in(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

// Neither seen nor harmless: controls, line and paragraph separators, direction marks, tags, BOM,
// and codes that are no characters.
bool invisible(char32_t code) {
  return code < 0x20 || in(code, 0x7f, 0x9f) || code == 0xad || code == 0x61c ||
         in(code, 0x200b, 0x200f) || in(code, 0x2028, 0x202e) || in(code, 0x2060, 0x206f) ||
         code == 0xfeff || in(code, 0xfff0, 0xfffb) || (code & 0xfffe) == 0xfffe ||
         in(code, 0xfdd0, 0xfdef) || in(code, 0xe0000, 0xe0fff);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const Character next = decode(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 0)
      html += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (invisible(next.code))
      html += next.code < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(next.code))
                               : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(next.code));
    else if (next.code == U'&')
      html += "&amp;";
    else if (next.code == U'<')
      html += "&lt;";
    else if (next.code == U'>')
      html += "&gt;";
    else if (next.code == U'"')
      html += "&quot;";
    else if (next.code == U'\'')
      html += "&#39;";
    else
      html += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return html;
}

std::string html_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string html_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  return short_number(value);
}

}  // namespace btftool
