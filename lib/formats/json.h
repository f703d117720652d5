// JSON of other tools, read a token at a time within bounds, and JSON as it is written into files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"

namespace btf {

// The tokens of a JSON text.

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

// The bytes of a text one after another, out of a window.

class JsonBytes {
 public:
  static constexpr int kEnd = -1;

  JsonBytes(const ByteSource& source, JsonExtent extent);

  // The next byte; kEnd behind the last one, or if it could not be read: trouble() tells.
  int peek() { return at_ < window_.size() ? byte(at_) : refill(); }
  // The byte that peek() gave, or this many of those held.
  void take(std::size_t count = 1) { at_ += count; }
  // The bytes available without another read.
  std::string_view held() const {
    return {reinterpret_cast<const char*>(window_.data()) + at_, window_.size() - at_};
  }

  std::uint64_t offset() const { return window_offset_ + at_; }
  const Status& trouble() const { return trouble_; }

 private:
  int byte(std::size_t at) const { return std::to_integer<int>(window_[at]); }
  int refill();

  const ByteSource& source_;
  std::uint64_t end_;            // of the text in the source
  std::uint64_t window_offset_;  // of the window in the source
  std::size_t at_ = 0;           // in the window
  std::vector<std::byte> window_;
  Status trouble_;
};

// Is the first byte that is no space a bracket or a brace? Looks at few bytes only.
Result<bool> begins_as_json(const ByteSource& source);

// And has no zeros there, as the count of a BTF file does.
Result<bool> stream_of_json(const ByteSource& beginning);

// One string of a JSON text: checked to its end, and kept if it is not too long.

class JsonString {
 public:
  // A string longer than `keep` has only its extent and hash.
  explicit JsonString(std::uint64_t keep);
  ~JsonString();
  JsonString(const JsonString&) = delete;
  JsonString& operator=(const JsonString&) = delete;

  // Reads from behind the opening quote through the closing one. What is wrong, at the byte that
  // is next; nullptr if nothing is.
  const char* read(JsonBytes& bytes);

  std::string_view text() const { return text_; }
  bool kept() const { return hash_ == nullptr; }
  bool escaped() const { return escaped_; }
  std::uint64_t hash() const;  // of the text, kept or not

 private:
  struct Hash;

  void append(std::string_view text);
  void append_code_point(std::uint32_t code);
  void take_plain(JsonBytes& bytes);
  const char* take_escape(JsonBytes& bytes);
  const char* take_code_unit(JsonBytes& bytes, std::uint32_t& unit);
  const char* take_utf8(JsonBytes& bytes);

  std::uint64_t keep_;
  std::string text_;
  std::unique_ptr<Hash> hash_;  // of a text that is longer than what is kept
  bool escaped_ = false;
};

// The text of a string that was read before, whole: as long as it is. `extent` begins behind the
// opening quote, and may be longer than the string.
Result<std::string> json_string_at(const ByteSource& source, JsonExtent extent);

// As much of a text as a message needs. Control characters are escaped by whoever shows it.
std::string json_shown(std::string_view text);

// Which names the objects that are open have had, so that none comes twice.

// The record of a name: two with the same hash are compared again.
struct JsonNameSeen {
  std::uint64_t hash = 0;
  std::uint64_t offset = 0;  // of its first byte, behind the opening quote
};

class JsonNames {
 public:
  std::size_t size() const { return seen_.size(); }
  void add(const JsonNameSeen& name) { seen_.push_back(name); }

  // Names from `first` on are those of the object that ends at byte `end`, and are forgotten. Where
  // the second of two stands that are the same.
  Result<std::optional<std::uint64_t>> end_object(std::size_t first, const ByteSource& source,
                                                  std::uint64_t end);

 private:
  std::vector<JsonNameSeen> seen_;
};

// JSON, one token after another, out of a window over a source: what is read costs memory neither
// for its length nor for that of its strings. The rules are those of RFC 8259, the strict ones: no
// byte order mark, UTF-8 only, no half of a surrogate pair, and no name twice in an object.

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
  static constexpr std::size_t kMaxDepth = 64;

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

  // The dims of a tensor: an array of such integers. `dims` reads what is left of one whose begin
  // was the last token.
  Result<Dims> expect_dims(std::string_view what);
  Result<Dims> dims(std::string_view what);

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
  std::array<Level, kMaxDepth> levels_{};
};

// A number of 64 bits that is written as an integer: not 1.0, 1e2 or -0, and nothing too large.
std::optional<std::uint64_t> exact_u64(std::string_view number);
std::optional<std::int64_t> exact_i64(std::string_view number);

// JSON that is written: members in the order of their names, no spaces, no escape without need.

// In quotes, with the fewest escapes there can be; nothing: it is not UTF-8.
std::optional<std::string> json_quoted(std::string_view text);

// An object out of texts of values, by the names of its members. Names and values are UTF-8.
class JsonObject {
 public:
  void text(const std::string& name, std::string_view value) {
    members_[name] = *json_quoted(value);
  }
  void number(const std::string& name, std::uint64_t value) {
    members_[name] = std::to_string(value);
  }
  // `value` is JSON.
  void json(const std::string& name, std::string value) { members_[name] = std::move(value); }

  bool empty() const { return members_.empty(); }
  std::string take() const;

 private:
  std::map<std::string, std::string> members_;
};

// The value that begins with `token`, in that form: numbers in their shortest one. A value nested
// deeper than `depth` is an error.
Result<std::string> canonical_json(JsonReader& reader, const JsonToken& token, unsigned depth);

}  // namespace btf
