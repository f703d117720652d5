// JSON that somebody else wrote, read with every step checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "btf/layout.h"
#include "report/text/json.h"

namespace btf::report {

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

}  // namespace btf::report
