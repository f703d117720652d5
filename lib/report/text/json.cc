#include "report/text/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// Bytes 0x80 to 0xFF are represented by this character plus the byte. In UTF-8 these characters
// begin with kEscape.
constexpr char32_t kBytes = 0x10fe00;
constexpr std::string_view kEscape = "\xf4\x8f";

bool is_byte(const Character& character) {
  return character.bytes > 0 && character.code >= kBytes + 0x80 && character.code <= kBytes + 0xff;
}

void escape(std::string& text) {
  std::string escaped;
  bool changed = false;
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = decode(rest);
    const bool keep = character.bytes > 0 && !is_byte(character);
    if (keep) {
      escaped += rest.substr(0, character.bytes);
    } else {
      const auto byte = static_cast<unsigned char>(rest.front());
      escaped += kEscape;
      escaped += static_cast<char>(0xb8 | byte >> 6);
      escaped += static_cast<char>(0x80 | (byte & 0x3f));
    }
    changed |= !keep;
    rest.remove_prefix(keep ? character.bytes : 1);
  }
  if (changed) text = std::move(escaped);
}

void unescape(std::string& text) {
  std::string bytes;
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = decode(rest);
    if (is_byte(character))
      bytes += static_cast<char>(character.code - kBytes);
    else
      bytes += rest.substr(0, character.bytes);
    rest.remove_prefix(character.bytes);
  }
  text = std::move(bytes);
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void change_texts(Json& json, void (*change)(std::string&)) {
  if (json.is_string()) {
    if (auto& text = json.get_ref<std::string&>(); !is_ascii(text)) change(text);
    return;
  }
  if (!json.is_structured()) return;
  for (Json& item : json) change_texts(item, change);
}

}  // namespace

std::string dump_exact(Json json) {
  change_texts(json, escape);
  return dump(json);
}

Result<Json> parse_exact(std::string_view line, std::string_view what) {
  BTF_ASSIGN(Json json, parse_json(std::string(line), what));
  if (line.contains(kEscape)) change_texts(json, unescape);
  return json;
}

namespace {

const Json kNull;

std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  constexpr std::size_t kMax = 40;
  const std::string text = printable(dump(value));
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
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

namespace {

constexpr int kMaxDepth = 32;  // reports have 8 or less

// Finds names that occur twice in one of the open objects.
class NamesOnce {
 public:
  void take(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
    if (event != Json::parse_event_t::key || open_.empty()) return;
    const auto& name = parsed.get_ref<const std::string&>();
    if (!open_.back().insert(name).second && !twice_) twice_ = name;
  }
  const std::optional<std::string>& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> twice_;
};

// Returns true if brackets outside of strings nest deeper than in any report. The result is
// arbitrary for text that is not JSON.
bool may_be_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text && c == '\\')
      ++at;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '{' || c == '['))
      ++depth;
    else if (!in_text && (c == '}' || c == ']'))
      --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

Result<Json> parse(const std::string& text, std::string_view what, NamesOnce* names) {
  bool deep = false;
  // Deep nesting would lead to deep recursion. Containers that are refused are not built.
  const auto shallow = [&](int depth, Json::parse_event_t event, Json& parsed) {
    deep = deep || depth > kMaxDepth;
    if (names != nullptr && !deep) names->take(event, parsed);
    return !deep;
  };
  try {
    // The callback for every value would take half of the time.
    if (names == nullptr && !may_be_deep(text)) return Json::parse(text);
    Json json = Json::parse(text, shallow);
    if (names != nullptr && names->twice())
      return btf::fail(ErrorCode::malformed,
                       "'" + printable(*names->twice()) + "' occurs twice in an object");
    if (!deep) return json;
  } catch (const Json::parse_error& error) {
    return btf::fail(ErrorCode::malformed, "not JSON: error at byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    return btf::fail(ErrorCode::malformed, "not JSON that can be read: a number is out of range");
  }
  return btf::fail(ErrorCode::malformed, "not " + std::string(what) + ": nested too deeply");
}

}  // namespace

Result<Json> parse_json(const std::string& text, std::string_view what) {
  return parse(text, what, nullptr);
}

Result<Json> parse_written_json(const std::string& text, std::string_view what) {
  NamesOnce names;
  return parse(text, what, &names);
}

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

namespace {

constexpr std::uint64_t kExact = 1ULL << 53;  // beyond it a reader's double may lose digits

}  // namespace

bool json_exact(std::uint64_t value) { return value <= kExact; }

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json json_number(std::uint64_t value) {
  if (!json_exact(value)) return std::to_string(value);
  return value;
}

Json json_others(const std::vector<std::string>& paths) {
  return paths.empty() ? Json::object() : Json{{"other_files", paths}};
}

Json json_dims(const Dims& dims) {
  Json array = Json::array();
  for (const std::uint64_t dim : dims) array.push_back(json_number(dim));
  return array;
}

Json json_value(DType dtype, std::uint64_t code) {
  const DTypeInfo& row = btf::info(dtype);
  if (row.kind == NumberKind::boolean) return code != 0;
  if (row.floating()) return json_number(btf::value_double(dtype, code));
  const std::string text = btf::value_text(dtype, code);
  const std::uint64_t magnitude = std::stoull(text.front() == '-' ? text.substr(1) : text);
  if (magnitude > kExact) return text;
  return std::stoll(text);
}

void add_layout(Json& object, const std::string& prefix, Layout layout) {
  const LayoutSpec& row = btf::spec(layout);
  object[prefix + "layout"] = row.name;
  if (!row.dla.empty()) object[prefix + "dla"] = row.dla;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace btf::report
