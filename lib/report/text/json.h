// JSON by the rules of docs/cli.md: non-finite numbers are strings, integers beyond 2^53 are
// strings, members keep their order.
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

// Does every reader get this integer as it is? Others are written as strings.
bool json_exact(std::uint64_t value);
Json json_number(double value);
Json json_number(std::uint64_t value);

// Files beside the tensors, as a member; none if there are none.
Json json_others(const std::vector<std::string>& paths);
Json json_dims(const Dims& dims);
Json json_value(DType dtype, std::uint64_t code);  // one element

// Adds "layout", and "dla" where one name has two pitches, under these names.
void add_layout(Json& object, const std::string& prefix, Layout layout);

// One line of JSON text; invalid UTF-8 (of file names) is replaced.
std::string dump(const Json& json);

// JSON of texts that may be of any bytes, as names of files are, which reading gives back.

// One line. In a text that is not UTF-8 each byte from 0x80 on that is in no character, or in one
// of U+10FE80 to U+10FEFF, becomes the character U+10FE00 + byte.
std::string dump_exact(Json json);

// `what`: as of parse_json().
Result<Json> parse_exact(std::string_view line, std::string_view what);

// JSON that somebody else wrote, read with every step checked.

// A value and the way to it. What is wrong first is kept in `trouble` and names the member; from
// there on reading yields nulls, zeros and empty texts. A node must not outlive the one it is from.
class JsonNode {
 public:
  JsonNode(const Json& root, std::string& trouble) : value_(&root), trouble_(&trouble) {}

  JsonNode operator[](const char* member) const;

  bool null() const { return value_->is_null(); }
  bool has(const char* member) const { return value_->is_object() && value_->contains(member); }
  // As json_number() writes them.
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
  const char* member_ = nullptr;  // nothing: the item `index_` of a list
  std::size_t index_ = 0;
};

// JSON that somebody else wrote, parsed within bounds.

// `what` it should be: "a report of btftool diff".
Result<Json> parse_json(const std::string& text, std::string_view what);

// The same of what people write: a name that comes twice in an object is an error.
Result<Json> parse_written_json(const std::string& text, std::string_view what);

// A JSON document that is written as it becomes known, by the rules of json.h: who writes it thinks
// of members and lists, and never of commas.

class JsonDocument {
 public:
  // An object: the document itself, or the next item of the list that is open.
  JsonDocument& begin_object();
  // A member of the open object.
  JsonDocument& begin_list(std::string_view name);
  // Closes the object or array that was opened last.
  JsonDocument& end();

  // All members of this object become members of the one that is open.
  JsonDocument& members(const Json& object);
  JsonDocument& item(const Json& value);
  // Appends ready JSON: one item, or several separated by commas.
  JsonDocument& items(std::string_view json);

  // The text written since the last call, and its size in bytes.
  std::string take();
  std::size_t size() const { return text_.size(); }

 private:
  void separate();

  std::string text_;
  std::string open_;   // the brackets that close what is open
  bool first_ = true;  // nothing stands in what was opened last
};

}  // namespace btf::report
