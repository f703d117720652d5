#include "report/text/characters.h"

#include <fmt/format.h>

namespace btf::report {
namespace {

bool in(char32_t code, char32_t first, char32_t last) { return code >= first && code <= last; }

}  // namespace

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
  if (code < kLeast[bytes] || code > 0x10ffff || in(code, 0xd800, 0xdfff)) return {};
  return {code, bytes};
}

bool invisible(char32_t code) {
  return code < 0x20 || in(code, 0x7f, 0x9f) || code == 0xad || code == 0x61c ||
         in(code, 0x200b, 0x200f) || in(code, 0x2028, 0x202e) || in(code, 0x2060, 0x206f) ||
         code == 0xfeff || in(code, 0xfff0, 0xfffb) || (code & 0xfffe) == 0xfffe ||
         in(code, 0xfdd0, 0xfdef) || in(code, 0xe0000, 0xe0fff);
}

std::string take_visible(std::string_view& text) {
  const Character next = decode(text);
  const std::string_view bytes = text.substr(0, next.bytes == 0 ? 1 : next.bytes);
  text.remove_prefix(bytes.size());
  if (next.bytes == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  if (!invisible(next.code)) return std::string(bytes);
  return next.code < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(next.code))
                          : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(next.code));
}

}  // namespace btf::report
