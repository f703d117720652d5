#include "sets/names/prefix.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace btf {
namespace {

using Names = std::vector<std::string_view>;

// Each costs a look at all names.
constexpr std::size_t kMostPrefixes = 16;

bool ends_part(char c) {
  constexpr std::string_view kMarks = "./:_-|#";
  return kMarks.contains(c);
}

// Where a part ends that all names begin with, and something is left of each.
std::vector<std::size_t> common_prefixes(const Names& names) {
  std::vector<std::size_t> ends;
  if (names.empty()) return ends;
  std::size_t common = names.front().size();
  for (const std::string_view name : names) {
    const auto [own, other] = std::ranges::mismatch(names.front().substr(0, common), name);
    common = static_cast<std::size_t>(own - names.front().begin());
    common = std::min(common, name.empty() ? 0 : name.size() - 1);
  }
  for (std::size_t at = 0; at < common && ends.size() < kMostPrefixes; ++at)
    if (ends_part(names.front()[at])) ends.push_back(at + 1);
  return ends;
}

// Keys that one name has, as hashes, sorted: that two are equal by chance only makes another prefix
// be tried.
std::vector<std::size_t> single_keys(const Names& names, NameKey key, std::size_t left_out) {
  std::vector<std::size_t> keys;
  keys.reserve(names.size());
  for (const std::string_view name : names)
    if (const std::string own = key(name.substr(left_out)); !own.empty())
      keys.push_back(std::hash<std::string>()(own));
  std::ranges::sort(keys);
  std::vector<std::size_t> single;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool twice =
        (i > 0 && keys[i - 1] == keys[i]) || (i + 1 < keys.size() && keys[i + 1] == keys[i]);
    if (!twice) single.push_back(keys[i]);
  }
  return single;
}

std::uint64_t in_common(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::uint64_t count = 0;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    count += *left == *right ? 1 : 0;
    const bool step_left = *left <= *right;
    const bool step_right = *right <= *left;
    if (step_left) ++left;
    if (step_right) ++right;
  }
  return count;
}

}  // namespace

std::optional<NamePrefix> find_prefix(const Names& left, const Names& right, NameKey key) {
  std::uint64_t most = 0;
  std::optional<NamePrefix> found;
  for (const bool of_left : {true, false}) {
    const Names& names = of_left ? left : right;
    const std::vector<std::size_t> ends = common_prefixes(names);
    if (ends.empty()) continue;
    const std::vector<std::size_t> others = single_keys(of_left ? right : left, key, 0);
    for (const std::size_t bytes : ends) {
      const std::uint64_t count = in_common(single_keys(names, key, bytes), others);
      if (count > 0 && count == most) found.reset();
      if (count <= most) continue;
      most = count;
      found = NamePrefix{of_left, bytes};
    }
  }
  return found;
}

}  // namespace btf
