// Reading JSON of other tools token by token in bounded memory, and writing JSON.
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
  name,  // of a member; its value follows
  string,
  number,
  boolean,
  null,
  end,  // end of the text
};

// "a string"
std::string_view json_kind_name(JsonKind kind);

// A range of bytes of the source.
struct JsonExtent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  constexpr std::uint64_t end() const { return offset + length; }
};

struct JsonToken {
  JsonKind kind{};
  // The content of a string or name without quotes, or the bracket of an object or array.
  JsonExtent extent;
  bool escaped = false;  // the string or name has escapes, so `text` differs from its bytes
  bool complete = true;  // false: too long, so that only the extent is known
  // The text of a string or name with escapes resolved, or a number, true or false as written. The
  // text of a name is valid until the next name, that of other tokens until the next token.
  std::string_view text;
};

// The bytes of a text, read one after another through a window.

class JsonBytes {
 public:
  static constexpr int kEnd = -1;

  JsonBytes(const ByteSource& source, JsonExtent extent);

  // The next byte; kEnd at the end or if it cannot be read, see trouble().
  int peek() { return at_ < window_.size() ? byte(at_) : refill(); }
  // Advances past the byte that peek() returned, or past this many of those in held().
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
  std::uint64_t end_;            // end of the text in the source
  std::uint64_t window_offset_;  // offset of the window in the source
  std::size_t at_ = 0;           // position in the window
  std::vector<std::byte> window_;
  Status trouble_;
};

// Returns true if the first byte that is not white space is a bracket or a brace. Only looks at a
// few bytes.
Result<bool> begins_as_json(const ByteSource& source);

// The same for a stream; false if there are zeros, as in the count of a BTF file.
Result<bool> stream_of_json(const ByteSource& beginning);

// One string of a JSON text: checked to its end, and stored if it is not too long.

class JsonString {
 public:
  // Strings longer than `keep` only have their extent and hash.
  explicit JsonString(std::uint64_t keep);
  ~JsonString();
  JsonString(const JsonString&) = delete;
  JsonString& operator=(const JsonString&) = delete;

  // Reads from after the opening quote through the closing one. Returns an error message for the
  // next byte, or nullptr.
  const char* read(JsonBytes& bytes);

  std::string_view text() const { return text_; }
  bool kept() const { return hash_ == nullptr; }
  bool escaped() const { return escaped_; }
  std::uint64_t hash() const;  // of the text, also if it is not stored

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
  std::unique_ptr<Hash> hash_;  // for a text that is too long to be stored
  bool escaped_ = false;
};

// The whole text of a string that has been checked before, however long it is. `extent` begins
// after the opening quote and may extend beyond the string.
Result<std::string> json_string_at(const ByteSource& source, JsonExtent extent);

// A text shortened for a message. Control characters are escaped later, when it is shown.
std::string json_shown(std::string_view text);

// Remembers the names of the open objects to detect duplicates.

// A name that was read; names with equal hashes are compared again.
struct JsonNameRecord {
  std::uint64_t hash = 0;
  std::uint64_t offset = 0;  // of its first byte, after the opening quote
};

class JsonNames {
 public:
  std::size_t size() const { return seen_.size(); }
  void add(const JsonNameRecord& name) { seen_.push_back(name); }

  // Ends the object that has the names from `first` on and ends at byte `end`, and forgets them.
  // Returns where the second of two equal names is.
  Result<std::optional<std::uint64_t>> end_object(std::size_t first, const ByteSource& source,
                                                  std::uint64_t end);

 private:
  std::vector<JsonNameRecord> seen_;
};

// Reads JSON token by token through a window over a source. Memory does not depend on the length of
// the text or of its strings. Follows RFC 8259 strictly: no byte order mark, UTF-8 only, no
// unpaired surrogates, and no duplicate names in an object.

struct JsonOptions {
  FindingCode finding;                  // for any error in the text
  std::string_view whole = "the text";  // the text's name in messages
  // Longest text of a string that tokens contain, in bytes.
  std::uint64_t keep = std::uint64_t{64} << 10;
  bool check_names = true;  // refuse duplicate names; costs 16 bytes for each name in open objects
  bool python = false;      // accept NaN, Infinity and -Infinity, as Python writes them
};

// After an error the reader must not be used any more.
class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 64;

  // Reads the text in `extent` of the source, which must contain these bytes and outlive the
  // reader.
  JsonReader(const ByteSource& source, JsonExtent extent, const JsonOptions& options);

  // At the end, every call returns a token of kind `end`.
  Result<JsonToken> next();

  // Skips the rest of the value that begins with `token`, including all of an object or array.
  Status skip(const JsonToken& token);
  // Skips the next value and returns its bytes.
  Result<JsonExtent> skip_value();

  // Reads the next token, which must be of this kind. `what` is for the error: "'dtype' of tensor
  // 'x'".
  Result<JsonToken> expect(JsonKind kind, std::string_view what);
  // Reads the next value, which must be an integer of 64 bits in integer notation: not 1.0, 1e2 or
  // -0.
  Result<std::uint64_t> expect_size(std::string_view what);

  // Reads the dims of a tensor: an array of such integers. dims() reads the rest of an array whose
  // opening bracket was the last token.
  Result<Dims> expect_dims(std::string_view what);
  Result<Dims> dims(std::string_view what);

  // The integer of a token, by the same rules.
  Result<std::uint64_t> size_of(const JsonToken& token, std::string_view what) const;

  // The position after the last token.
  std::uint64_t offset() const { return bytes_.offset(); }

  // Reads the members of the object whose opening brace was the last token. `take` is called with
  // each name and must read the whole value.
  Status members(const std::function<Status(const JsonToken& name)>& take);

  // The error "the header: ..., at byte 17" with the finding of the options.
  std::unexpected<Error> wrong(std::uint64_t offset, const std::string& what) const;

 private:
  Status check_kind(const JsonToken& token, JsonKind kind, std::string_view what) const;

  // What may come next.
  enum class Place : std::uint8_t { value, first_item, first_name, separator, nothing };

  struct Level {
    bool object = false;
    std::size_t first_name = 0;  // index of its first remembered name
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
  std::unexpected<Error> unexpected_byte(std::string_view wanted);

  const ByteSource& source_;
  JsonOptions options_;
  JsonBytes bytes_;
  JsonString name_;
  JsonString string_;
  std::string scalar_;  // a number, true, false or null
  JsonNames names_;
  Place place_ = Place::value;
  bool begun_ = false;
  std::size_t depth_ = 0;
  std::array<Level, kMaxDepth> levels_{};
};

// Parses a 64-bit number in integer notation: not 1.0, 1e2 or -0. Unset for others and if it is too
// large.
std::optional<std::uint64_t> exact_u64(std::string_view number);
std::optional<std::int64_t> exact_i64(std::string_view number);

// Written JSON has members in the order of their names, no spaces and no unnecessary escapes.

// The text in quotes with as few escapes as possible; unset if it is not UTF-8.
std::optional<std::string> json_quoted(std::string_view text);

// Builds an object from member names and texts of values. Both must be UTF-8.
class JsonObject {
 public:
  void text(const std::string& name, std::string_view value) {
    members_[name] = *json_quoted(value);
  }
  void number(const std::string& name, std::uint64_t value) {
    members_[name] = std::to_string(value);
  }
  // `value` must be JSON.
  void json(const std::string& name, std::string value) { members_[name] = std::move(value); }

  bool empty() const { return members_.empty(); }
  std::string take() const;

 private:
  std::map<std::string, std::string> members_;
};

// Rewrites the value that begins with `token` in that form, with numbers as short as possible. An
// error if it is nested deeper than `depth`.
Result<std::string> canonical_json(JsonReader& reader, const JsonToken& token, unsigned depth);

}  // namespace btf
