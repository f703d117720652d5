// JSON by the rules of docs/cli.md: non-finite numbers and integers beyond 2^53 are strings, and
// members keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layout.h"

namespace btf::report {

using Json = nlohmann::ordered_json;

// Returns true if a double can hold this integer exactly. Others are written as strings.
bool json_exact(std::uint64_t value);
Json json_number(double value);
Json json_number(std::uint64_t value);

// Returns an object with the list of files that were not read as its member, or an empty object.
Json json_others(const std::vector<std::string>& paths);
Json json_dims(const Dims& dims);
Json json_value(DType dtype, std::uint64_t code);  // one element

// Adds the members "layout" and, if the name of the layout has two pitches, "dla", with a prefix.
void add_layout(Json& object, const std::string& prefix, Layout layout);

// Returns one line of JSON. Invalid UTF-8, which names of files may have, is replaced.
std::string dump(const Json& json);

// The same for strings of arbitrary bytes, which parse_exact() restores. In a string that is not
// UTF-8, each byte from 0x80 on that is not part of a character, or part of one of U+10FE80 to
// U+10FEFF, becomes the character U+10FE00 + byte.
std::string dump_exact(Json json);

// `what` is as for parse_json().
Result<Json> parse_exact(std::string_view line, std::string_view what);

// Reads untrusted JSON with checks at every step. A node is a value and the path to it. The first
// error is stored in `trouble` with the path; after it, reading returns nulls, zeros and empty
// strings. A node must not outlive the one that it comes from.
class JsonNode {
 public:
  JsonNode(const Json& root, std::string& trouble) : value_(&root), trouble_(&trouble) {}

  JsonNode operator[](const char* member) const;

  bool null() const { return value_->is_null(); }
  bool has(const char* member) const { return value_->is_object() && value_->contains(member); }
  // These read numbers as json_number() writes them.
  std::uint64_t count() const;
  double number() const;  // NaN and Inf are numbers
  double amount() const;  // neither NaN nor below 0
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  bool flag() const;
  std::string text() const;
  Dims dims() const;

  void each(auto&& take) const {
    if (!value_->is_array()) return wrong("a list");
    std::size_t index = 0;
    for (const Json& item : *value_) take(JsonNode(item, *trouble_, this, nullptr, index++));
  }

  // take(name, value) for each member of an object.
  void members(auto&& take) const {
    if (!value_->is_object()) return wrong("an object");
    for (auto at = value_->begin(); at != value_->end(); ++at)
      take(at.key(), JsonNode(*at, *trouble_, this, at.key().c_str(), 0));
  }

  // "tensors[0].nan.both is ..."
  void fail(std::string_view what) const;
  bool failed() const { return !trouble_->empty(); }

 private:
  JsonNode(const Json& value, std::string& trouble, const JsonNode* parent, const char* member,
           std::size_t index)
      : value_(&value), trouble_(&trouble), parent_(parent), member_(member), index_(index) {}

  void wrong(std::string_view wanted) const;
  std::string path() const;

  const Json* value_;
  std::string* trouble_;
  const JsonNode* parent_ = nullptr;
  const char* member_ = nullptr;  // if nullptr, the node is item `index_` of a list
  std::size_t index_ = 0;
};

// Parses untrusted JSON with bounded depth. `what` says in messages what it should be, such as "a
// report of btftool diff".
Result<Json> parse_json(const std::string& text, std::string_view what);

// The same for files that people write: a name that occurs twice in an object is an error.
Result<Json> parse_written_json(const std::string& text, std::string_view what);

// Writes a JSON document piece by piece.
class JsonDocument {
 public:
  // Begins an object: the document itself, or the next item of the open list.
  JsonDocument& begin_object();
  // Begins a list that is a member of the open object.
  JsonDocument& begin_list(std::string_view name);
  // Closes the object or array that was opened last.
  JsonDocument& end();

  // Adds all members of `object` to the open object.
  JsonDocument& members(const Json& object);
  JsonDocument& item(const Json& value);
  // Appends items in JSON: one, or several separated by commas.
  JsonDocument& items(std::string_view json);

  // Returns the text that was written since the last call; size() is its size in bytes.
  std::string take();
  std::size_t size() const { return text_.size(); }

 private:
  void separate();

  std::string text_;
  std::string open_;   // closing brackets of the open objects and lists
  bool first_ = true;  // the innermost one is still empty
};

}  // namespace btf::report
