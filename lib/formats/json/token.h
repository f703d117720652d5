// The tokens of a JSON text.
#pragma once

#include <cstdint>
#include <string_view>

namespace btf {

enum class JsonKind : std::uint8_t {
  object_begin,
  object_end,
  array_begin,
  array_end,
  name,  // of a member; the value comes next
  string,
  number,
  boolean,
  null,
  end,  // of the text
};

// "a string"
std::string_view json_kind_name(JsonKind kind);

// Bytes of the source.
struct JsonExtent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  constexpr std::uint64_t end() const { return offset + length; }
};

struct JsonToken {
  JsonKind kind{};
  // A string's or name's content without the quotes, an object's or array's bracket.
  JsonExtent extent;
  bool escaped = false;  // of a string or name: its text is not the bytes as they stand
  bool kept = true;  // false: its text is longer than what is kept, and only its extent is known
  // A string's or name's text with its escapes resolved; a number, true and false as they stand.
  // A name's is there until the next name, that of all else until the next token.
  std::string_view text;
};

}  // namespace btf
