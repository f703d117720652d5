#include "formats/json/json_text.h"

#include <span>

#include "formats/io/memory_bytes.h"
#include "formats/json/json_string.h"

namespace btf {
namespace {

constexpr std::string_view kShort = "\b\t\n\f\r\"\\";
constexpr std::string_view kShortSigns = "btnfr\"\\";

void append_escaped(std::string& quoted, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
    quoted += '\\';
    quoted += kShortSigns[at];
  } else if (static_cast<unsigned char>(c) < 0x20) {
    quoted += "\\u00";
    quoted += kDigits[static_cast<unsigned char>(c) >> 4];
    quoted += kDigits[static_cast<unsigned char>(c) & 15];
  } else {
    quoted += c;
  }
}

}  // namespace

std::optional<std::string> json_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) append_escaped(quoted, c);
  quoted += '"';
  // Whoever reads it knows what UTF-8 is.
  const MemorySource source(std::as_bytes(std::span(quoted)));
  const auto read = json_string_at(source, {1, quoted.size() - 2});
  if (!read || *read != text) return std::nullopt;
  return quoted;
}

}  // namespace btf
