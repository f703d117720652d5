#include "report/text/json_node.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "report/text/text.h"

namespace btf::report {
namespace {

const Json kNull;

std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  constexpr std::size_t kMost = 40;
  const std::string text = printable(dump(value));
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

std::string JsonNode::path() const {
  const std::string before = parent_ == nullptr ? "" : parent_->path();
  if (parent_ == nullptr) return before;
  if (member_ == nullptr) return before + "[" + std::to_string(index_) + "]";
  return before.empty() ? member_ : before + "." + member_;
}

void JsonNode::fail(std::string_view what) const {
  if (failed()) return;
  const std::string where = path();
  *trouble_ = (where.empty() ? "the document" : where) + " " + std::string(what);
}

void JsonNode::wrong(std::string_view wanted) const {
  fail("is " + shown(*value_) + ", not " + std::string(wanted));
}

JsonNode JsonNode::operator[](const char* member) const {
  const Json* found = &kNull;
  if (!value_->is_object()) {
    wrong("an object");
  } else if (const auto at = value_->find(member); at != value_->end()) {
    found = &*at;
  } else {
    fail(std::string("has no member ") + member);
  }
  return {*found, *trouble_, this, member, 0};
}

std::uint64_t JsonNode::count() const {
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  std::uint64_t count = 0;
  if (value_->is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc() && stop == end) return count;
  }
  wrong("a count");
  return 0;
}

double JsonNode::number() const {
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  wrong("a number");
  return 0;
}

double JsonNode::amount() const {
  const double value = number();
  if (value >= 0) return value;
  wrong("a number of 0 or more");
  return 0;
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  const bool small = value_->is_number_integer() &&
                     (!value_->is_number_unsigned() ||
                      value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t value = small ? value_->get<std::int64_t>() : 0;
  if (small && value >= least && value <= most) return value;
  wrong("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return least;
}

bool JsonNode::flag() const {
  if (value_->is_boolean()) return value_->get<bool>();
  wrong("true or false");
  return false;
}

std::string JsonNode::text() const {
  if (value_->is_string()) return value_->get<std::string>();
  wrong("a text");
  return {};
}

Dims JsonNode::dims() const {
  Dims dims;
  each([&](const JsonNode& dim) { dims.push_back(dim.count()); });
  if (dims.size() > btf::kMaxRank) fail("has more than " + std::to_string(btf::kMaxRank) + " dims");
  return dims;
}

}  // namespace btf::report
