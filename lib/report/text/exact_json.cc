#include "report/text/exact_json.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "btf/try.h"
#include "report/text/characters.h"
#include "report/text/json_parse.h"

namespace btf::report {
namespace {

// These characters, and 0x80 to 0xFF behind them, stand for bytes. In UTF-8 they begin with
// kEscape.
constexpr char32_t kBytes = 0x10fe00;
constexpr std::string_view kEscape = "\xf4\x8f";

bool is_byte(const Character& character) {
  return character.bytes > 0 && character.code >= kBytes + 0x80 && character.code <= kBytes + 0xff;
}

void escape(std::string& text) {
  std::string escaped;
  bool changed = false;
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = decode(rest);
    const bool keep = character.bytes > 0 && !is_byte(character);
    if (keep) {
      escaped += rest.substr(0, character.bytes);
    } else {
      const auto byte = static_cast<unsigned char>(rest.front());
      escaped += kEscape;
      escaped += static_cast<char>(0xb8 | byte >> 6);
      escaped += static_cast<char>(0x80 | (byte & 0x3f));
    }
    changed |= !keep;
    rest.remove_prefix(keep ? character.bytes : 1);
  }
  if (changed) text = std::move(escaped);
}

void unescape(std::string& text) {
  std::string bytes;
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = decode(rest);
    if (is_byte(character))
      bytes += static_cast<char>(character.code - kBytes);
    else
      bytes += rest.substr(0, character.bytes);
    rest.remove_prefix(character.bytes);
  }
  text = std::move(bytes);
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void change_texts(Json& json, void (*change)(std::string&)) {
  if (json.is_string()) {
    if (auto& text = json.get_ref<std::string&>(); !is_ascii(text)) change(text);
    return;
  }
  if (!json.is_structured()) return;
  for (Json& item : json) change_texts(item, change);
}

}  // namespace

std::string dump_exact(Json json) {
  change_texts(json, escape);
  return dump(json);
}

Result<Json> parse_exact(std::string_view line, std::string_view what) {
  BTF_ASSIGN(Json json, parse_json(std::string(line), what));
  if (line.contains(kEscape)) change_texts(json, unescape);
  return json;
}

}  // namespace btf::report
