#include "io/json_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "btf/try.h"
#include "io/text.h"

namespace btftool {
namespace {

constexpr std::size_t kMostBytes = 256U << 20;  // as values they are ten times as many
constexpr int kMostDepth = 32;                  // reports have 8 or less

btf::Result<std::string> read_all(int fd) {
  std::string text;
  constexpr std::size_t kPiece = 1U << 20;
  while (text.size() <= kMostBytes) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = ::read(fd, text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR)
      return btf::fail(btf::ErrorCode::io, std::string("cannot read: ") + std::strerror(errno));
    if (got == 0) return text;
  }
  return btf::fail(btf::ErrorCode::unsupported,
                   "a report of more than " + std::to_string(kMostBytes >> 20) + " MiB");
}

}  // namespace

btf::Result<std::string> read_text(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return btf::fail(btf::ErrorCode::io, std::string("cannot open: ") + std::strerror(errno));
  auto text = read_all(fd);
  ::close(fd);
  return text;
}

namespace {

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

btf::Result<Json> parse(const std::string& text, std::string_view what, NamesOnce* names) {
  bool deep = false;
  // Deep nesting would end in deep recursion; refused containers are not built.
  const auto shallow = [&](int depth, Json::parse_event_t event, Json& parsed) {
    deep = deep || depth > kMostDepth;
    if (names != nullptr && !deep) names->take(event, parsed);
    return !deep;
  };
  try {
    Json json = Json::parse(text, shallow);
    if (names != nullptr && names->twice())
      return btf::fail(btf::ErrorCode::malformed,
                       "'" + printable(*names->twice()) + "' comes twice in an object");
    if (!deep) return json;
  } catch (const Json::parse_error& error) {
    return btf::fail(btf::ErrorCode::malformed,
                     "not JSON: wrong or ended at byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    return btf::fail(btf::ErrorCode::malformed,
                     "not JSON that can be read: a number is out of range");
  }
  return btf::fail(btf::ErrorCode::malformed, "not " + std::string(what) + ": nested too deeply");
}

}  // namespace

btf::Result<Json> parse_json(const std::string& text, std::string_view what) {
  return parse(text, what, nullptr);
}

btf::Result<Json> parse_written_json(const std::string& text, std::string_view what) {
  NamesOnce names;
  return parse(text, what, &names);
}

}  // namespace btftool
