// JSON that is written: members in the order of their names, no spaces, no escape without need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "btf/error.h"
#include "formats/json/reader.h"

namespace btf {

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
