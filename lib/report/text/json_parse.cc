#include "report/text/json_parse.h"

#include <optional>
#include <set>
#include <vector>

#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr int kMostDepth = 32;  // reports have 8 or less

// The names of the objects that are open.
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

// Do brackets outside of texts nest deeper than reports do? Of text that is no JSON: either.
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
    if (depth > kMostDepth) return true;
  }
  return false;
}

Result<Json> parse(const std::string& text, std::string_view what, NamesOnce* names) {
  bool deep = false;
  // Deep nesting would end in deep recursion; refused containers are not built.
  const auto shallow = [&](int depth, Json::parse_event_t event, Json& parsed) {
    deep = deep || depth > kMostDepth;
    if (names != nullptr && !deep) names->take(event, parsed);
    return !deep;
  };
  try {
    // Asking at every value takes half of the time.
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

}  // namespace btf::report
