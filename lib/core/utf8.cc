#include "core/utf8.h"

#include <cstddef>
#include <cstdint>

namespace btf {
namespace {

struct Lead {
  unsigned char first;  // of the lead bytes
  unsigned char last;
  unsigned char least;  // of the byte behind it
  unsigned char most;
  std::size_t bytes;  // of the character
};

// The table of RFC 3629: what may follow each lead byte. The rest are 80 to BF.
constexpr Lead kLeads[] = {
    {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

// Bytes of the character that the text begins with; 0: it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Lead& lead : kLeads) {
    if (byte(0) < lead.first || byte(0) > lead.last) continue;
    if (lead.bytes > text.size()) return 0;
    if (lead.bytes > 1 && (byte(1) < lead.least || byte(1) > lead.most)) return 0;
    for (std::size_t i = 2; i < lead.bytes; ++i)
      if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    return lead.bytes;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace btf
