#include "sets/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "btf/layout.h"
#include "btf/words/did_you_mean.h"
#include "btf/try.h"
#include "core/numbers.h"

namespace btf {
namespace {

using Numbers = std::vector<std::uint64_t>;

bool has_wildcard(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

class Selector {
 public:
  explicit Selector(const Selectable& tensors) : tensors_(tensors) {}

  Result<Numbers> run(std::string_view text) {
    for (;;) {
      const std::size_t comma = text.find(',');
      BTF_TRY(add(text.substr(0, comma)));
      if (comma == text.npos) break;
      text.remove_prefix(comma + 1);
    }
    if (!only_left_out_ && left_out_.empty()) return std::move(taken_);
    if (only_left_out_) {
      taken_.resize(tensors_.count);
      std::iota(taken_.begin(), taken_.end(), 0);
    }
    std::ranges::sort(left_out_);
    std::erase_if(taken_,
                  [&](std::uint64_t i) { return std::ranges::binary_search(left_out_, i); });
    return std::move(taken_);
  }

 private:
  Status add(std::string_view item) {
    const bool out = item.starts_with('!');
    if (out) item.remove_prefix(1);
    only_left_out_ = only_left_out_ && out;
    BTF_ASSIGN(const Numbers found, find(item));
    Numbers& target = out ? left_out_ : taken_;
    target.insert(target.end(), found.begin(), found.end());
    return {};
  }

  Result<Numbers> find(std::string_view item) const {
    if (item.empty())
      return fail(ErrorCode::invalid_argument,
                  "a selection has an empty part; a number, a range such as 2-5 or a name was "
                  "expected");
    if (item.front() == '@') return by_name(item.substr(1));
    // A dash that is not the first character makes a range.
    const std::size_t dash = item.find('-', 1);
    const auto first = parse_number<std::int64_t>(item.substr(0, dash));
    const auto last =
        dash < item.size() ? parse_number<std::int64_t>(item.substr(dash + 1)) : first;
    if (!first || !last) return by_name(item);
    return range(item, *first, *last);
  }

  Result<Numbers> range(std::string_view item, std::int64_t first, std::int64_t last) const {
    BTF_ASSIGN(const std::uint64_t from, position(first));
    BTF_ASSIGN(const std::uint64_t to, position(last));
    if (from > to)
      return fail(ErrorCode::invalid_argument,
                  "the range " + std::string(item) + " ends before it begins");
    Numbers found(to - from + 1);
    std::iota(found.begin(), found.end(), from);
    return found;
  }

  Result<std::uint64_t> position(std::int64_t number) const {
    if (const auto found = resolve_index(number, tensors_.count)) return *found;
    return fail(ErrorCode::invalid_argument, "there is no tensor " + std::to_string(number) + ", " +
                                                 std::string(tensors_.what) + " has " +
                                                 std::to_string(tensors_.count));
  }

  // A name as it is goes before a glob: names may have brackets.
  Result<Numbers> by_name(std::string_view name) const {
    Numbers found = matching([&](const std::string& own) { return own == name; });
    if (found.size() > 1) return several(name, found);
    if (found.empty() && has_wildcard(name)) {
      const std::string glob(name);
      found = matching(
          [&](const std::string& own) { return ::fnmatch(glob.c_str(), own.c_str(), 0) == 0; });
    }
    if (!found.empty()) return found;
    return fail(ErrorCode::invalid_argument, "no tensor of " + std::string(tensors_.what) +
                                                 " is called '" + std::string(name) + "'" +
                                                 similar(name));
  }

  template <typename Matches>
  Numbers matching(const Matches& matches) const {
    Numbers found;
    for (std::uint64_t i = 0; i < tensors_.count; ++i)
      if (matches(tensors_.name(i))) found.push_back(i);
    return found;
  }

  std::unexpected<Error> several(std::string_view name, const Numbers& found) const {
    std::string numbers;
    for (std::size_t i = 0; i < found.size() && i < kShown; ++i)
      numbers += (i == 0 ? "" : ", ") + std::to_string(found[i]);
    if (found.size() > kShown) numbers += ", ...";
    return fail(ErrorCode::invalid_argument, "tensors " + numbers + " are all called '" +
                                                 std::string(name) +
                                                 "': select them by their numbers");
  }

  // One that may be meant, and the first ones.
  std::string similar(std::string_view name) const {
    constexpr std::uint64_t kAsked = 100'000;
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < tensors_.count && i < kAsked; ++i)
      names.push_back(tensors_.name(i));
    return did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())) +
           examples();
  }

  std::string examples() const {
    std::string text;
    for (std::uint64_t i = 0; i < tensors_.count && i < kShown; ++i)
      text += (i == 0 ? "; there are " : ", ") + tensors_.name(i);
    return text + (tensors_.count > kShown ? ", ..." : "");
  }

  static constexpr std::size_t kShown = 5;

  const Selectable& tensors_;
  Numbers taken_;
  Numbers left_out_;
  bool only_left_out_ = true;
};

}  // namespace

Result<std::vector<std::uint64_t>> select_tensors(std::string_view text,
                                                  const Selectable& tensors) {
  return Selector(tensors).run(text);
}

}  // namespace btf
