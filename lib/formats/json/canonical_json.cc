#include "formats/json/canonical_json.h"

#include <array>
#include <charconv>
#include <system_error>

#include "btf/try.h"
#include "core/utf8.h"

namespace btf {
namespace {

// Integers of 64 bits stay as they are; others as the shortest text that reads back as the same
// double.
std::string shortest_number(std::string_view text) {
  if (exact_u64(text) || exact_i64(text)) return std::string(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::string(text);
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), written.ptr};
}

}  // namespace

std::optional<std::string> json_quoted(std::string_view text) {
  if (!is_utf8(text)) return std::nullopt;
  static constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  static constexpr std::string_view kLetters = "bfnrt\"\\";
  std::string quoted = "\"";
  for (const char c : text) {
    const std::size_t at = kShort.find(c);
    if (at != kShort.npos) {
      quoted += '\\';
      quoted += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += "\\u00";
      quoted += static_cast<char>('0' + (c >> 4));
      quoted += "0123456789abcdef"[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string JsonObject::take() const {
  std::string text = "{";
  for (const auto& [name, value] : members_)
    text += (text.size() > 1 ? "," : "") + *json_quoted(name) + ":" + value;
  return text + "}";
}

Result<std::string> canonical_json(JsonReader& reader, const JsonToken& token, unsigned depth) {
  if (token.kind == JsonKind::string) {
    if (!token.kept) return reader.wrong(token.extent.offset, "a string is too long");
    return *json_quoted(token.text);
  }
  if (token.kind == JsonKind::number) return shortest_number(token.text);
  const bool object = token.kind == JsonKind::object_begin;
  if (!object && token.kind != JsonKind::array_begin) return std::string(token.text);
  if (depth == 0) return reader.wrong(token.extent.offset, "it is nested too deep");
  if (object) {
    JsonObject members;
    BTF_TRY(reader.members([&](const JsonToken& name) -> Status {
      if (!name.kept) return reader.wrong(name.extent.offset, "a name is too long");
      const std::string key(name.text);
      BTF_ASSIGN(const JsonToken first, reader.next());
      BTF_ASSIGN(std::string value, canonical_json(reader, first, depth - 1));
      members.json(key, std::move(value));
      return {};
    }));
    return members.take();
  }
  std::string text = "[";
  for (;;) {
    BTF_ASSIGN(const JsonToken item, reader.next());
    if (item.kind == JsonKind::array_end) return text + "]";
    BTF_ASSIGN(const std::string value, canonical_json(reader, item, depth - 1));
    text += (text.size() > 1 ? "," : "") + value;
  }
}

}  // namespace btf
