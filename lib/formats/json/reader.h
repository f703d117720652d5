// JSON, one token after another, out of a window over a source: what is read costs memory neither
// for its length nor for that of its strings. The rules are those of RFC 8259, the strict ones: no
// byte order mark, UTF-8 only, no half of a surrogate pair, and no name twice in an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"
#include "formats/json/json_bytes.h"
#include "formats/json/json_names.h"
#include "formats/json/json_string.h"
#include "formats/json/token.h"

namespace btf {

struct JsonOptions {
  FindingCode finding;                           // of whatever is wrong with the text
  std::string_view whole = "the text";           // what it is called in messages
  std::uint64_t keep = std::uint64_t{64} << 10;  // bytes of a string's text that tokens carry
  bool check_names = true;  // is a name twice in an object? Costs 16 bytes for each in open ones
  bool python = false;      // NaN, Infinity and -Infinity are numbers, as Python writes them
};

// After an error nothing more is to be read.
class JsonReader {
 public:
  static constexpr std::size_t kMostDepth = 64;

  // The text in `extent` of the source, which outlives the reader and has these bytes.
  JsonReader(const ByteSource& source, JsonExtent extent, const JsonOptions& options);

  // kind `end` behind the last one, again and again.
  Result<JsonToken> next();

  // Skips the rest of the value that begins with `token`: all of an object or an array.
  Status skip(const JsonToken& token);
  // The next value, whole; the bytes it takes.
  Result<JsonExtent> skip_value();

  // The next token, which must be of this kind. `what` is for the error: "'dtype' of tensor 'x'".
  Result<JsonToken> expect(JsonKind kind, std::string_view what);
  // The next value, which must be an integer of 64 bits, written as one: not 1.0, 1e2 or -0.
  Result<std::uint64_t> expect_size(std::string_view what);

  // The number of a token, likewise.
  Result<std::uint64_t> size_of(const JsonToken& token, std::string_view what) const;

  // Behind the last token.
  std::uint64_t offset() const { return bytes_.offset(); }

  // The members of the object whose begin was the last token, to its end. `take` gets each name and
  // reads the value, whole.
  Status members(const std::function<Status(const JsonToken& name)>& take);

  // "the header: ..., at byte 17" with the finding of the options.
  std::unexpected<Error> wrong(std::uint64_t offset, const std::string& what) const;

 private:
  Status check_kind(const JsonToken& token, JsonKind kind, std::string_view what) const;

  // The token that may come next.
  enum class Place : std::uint8_t { value, first_item, first_name, separator, nothing };

  struct Level {
    bool object = false;
    std::size_t first_name = 0;  // of the names that are remembered
  };

  Status begin_text();
  Result<JsonToken> value();
  Result<JsonToken> open(bool object);
  Result<JsonToken> close();
  Result<JsonToken> member_name();
  Result<JsonToken> number();
  Result<JsonToken> word();
  JsonToken scalar(JsonKind kind, std::uint64_t offset);
  Result<JsonToken> string(JsonKind kind, JsonString& into);
  bool take_digits();
  int peek_behind_spaces();
  std::unexpected<Error> not_here(std::string_view wanted);

  const ByteSource& source_;
  JsonOptions options_;
  JsonBytes bytes_;
  JsonString name_;
  JsonString string_;
  std::string scalar_;  // a number or a word
  JsonNames names_;
  Place place_ = Place::value;
  bool begun_ = false;
  std::size_t depth_ = 0;
  std::array<Level, kMostDepth> levels_{};
};

// A number of 64 bits that is written as an integer: not 1.0, 1e2 or -0, and nothing too large.
std::optional<std::uint64_t> exact_u64(std::string_view number);
std::optional<std::int64_t> exact_i64(std::string_view number);

}  // namespace btf
