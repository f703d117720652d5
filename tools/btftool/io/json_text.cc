#include "io/json_text.h"

#include <algorithm>

#include "io/text.h"

namespace btftool {

void JsonText::name(std::string_view name) {
  const std::size_t size = text_.size();
  text_.resize_and_overwrite(size + name.size() + 4, [&](char* text, std::size_t) {
    char* end = text + size;
    if (size > 1) *end++ = ',';
    *end++ = '"';
    end = std::ranges::copy(name, end).out;
    *end++ = '"';
    *end++ = ':';
    return end - text;
  });
}

void JsonText::number(std::uint64_t number) {
  const bool exact = json_exact(number);
  if (!exact) text_ += '"';
  append_number(text_, number);
  if (!exact) text_ += '"';
}

JsonText& JsonText::add(std::string_view name, std::uint64_t number) {
  this->name(name);
  this->number(number);
  return *this;
}

JsonText& JsonText::add(std::string_view name, std::string_view text) {
  this->name(name);
  text_.append("\"").append(text).append("\"");
  return *this;
}

JsonText& JsonText::add(std::string_view name, const btf::Dims& dims) {
  this->name(name);
  text_ += '[';
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d > 0) text_ += ',';
    number(dims[d]);
  }
  text_ += ']';
  return *this;
}

JsonText& JsonText::add(std::string_view name, const Json& value) {
  this->name(name);
  text_ += dump(value);
  return *this;
}

JsonText& JsonText::add_bool(std::string_view name, bool value) {
  this->name(name);
  text_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::add_null(std::string_view name) {
  this->name(name);
  text_ += "null";
  return *this;
}

std::string_view JsonText::end() {
  text_ += '}';
  return text_;
}

}  // namespace btftool
