#include "report/text/json_document.h"

#include <utility>

namespace btf::report {

void JsonDocument::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

JsonDocument& JsonDocument::begin_object() {
  separate();
  text_ += '{';
  open_ += '}';
  first_ = true;
  return *this;
}

JsonDocument& JsonDocument::begin_list(std::string_view name) {
  separate();
  text_ += dump(name) + ":[";
  open_ += ']';
  first_ = true;
  return *this;
}

JsonDocument& JsonDocument::end() {
  text_ += open_.back();
  open_.pop_back();
  first_ = false;
  return *this;
}

JsonDocument& JsonDocument::members(const Json& object) {
  if (object.empty()) return *this;
  separate();
  const std::string text = dump(object);
  text_.append(text, 1, text.size() - 2);
  return *this;
}

JsonDocument& JsonDocument::item(const Json& value) { return items(dump(value)); }

JsonDocument& JsonDocument::items(std::string_view json) {
  if (json.empty()) return *this;
  separate();
  text_ += json;
  return *this;
}

std::string JsonDocument::take() { return std::exchange(text_, {}); }

}  // namespace btf::report
