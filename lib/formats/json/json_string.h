// One string of a JSON text: checked to its end, and kept if it is not too long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/json/json_bytes.h"

namespace btf {

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

}  // namespace btf
