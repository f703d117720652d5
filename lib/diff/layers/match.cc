#include "diff/layers/match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <unordered_map>

#include "btf/try.h"
#include "diff/layers/names.h"

namespace btf {
namespace {

using Numbers = std::vector<std::uint64_t>;
using ByKey = std::unordered_map<std::string, Numbers>;

class Matching {
 public:
  Matching(std::span<const std::string> left, std::span<const std::string> right,
           const MayMatch& may)
      : left_(left),
        right_(right),
        may_(may),
        left_free_(left.size(), true),
        right_free_(right.size(), true) {}

  void by_map(const NameMap& map) {
    if (map.names.empty() && map.patterns.empty()) return;
    const ByKey left = keys(left_, left_free_, exact);
    const ByKey right = keys(right_, right_free_, exact);
    const auto take_named = [&](const std::string& from, const std::string& to) {
      const auto l = left.find(from);
      const auto r = right.find(to);
      if (l != left.end() && r != right.end() && l->second.size() == 1 && r->second.size() == 1)
        take(l->second[0], r->second[0], PairTier::map);
    };
    for (const auto& [from, to] : map.names) take_named(from, to);
    for (const auto& [pattern, replacement] : map.patterns) {
      const std::regex regex(pattern);
      for (const std::string& name : left_)
        if (std::regex_search(name, regex))
          take_named(name, std::regex_replace(name, regex, replacement));
    }
  }

  void by_tiers() {
    for (const TierRow& row : tier_rows()) by_key(row);
    shortened();
  }

  NameMatches finish() {
    std::ranges::sort(pairs_, {}, &NameMatch::left);
    NameMatches matches;
    matches.pairs = std::move(pairs_);
    for (auto& [tier, lefts, rights] : unclear_) {
      Ambiguity ambiguity;
      ambiguity.tier = tier;
      for (const std::uint64_t l : lefts)
        if (left_free_[l]) ambiguity.actual.push_back(left_[l]);
      for (const std::uint64_t r : rights)
        if (right_free_[r]) ambiguity.golden.push_back(right_[r]);
      if (!ambiguity.actual.empty() && !ambiguity.golden.empty() && !told(matches, ambiguity))
        matches.unclear.push_back(std::move(ambiguity));
    }
    return matches;
  }

 private:
  struct Unclear {
    PairTier tier{};
    Numbers left;
    Numbers right;
  };

  static std::string exact(std::string_view name) { return std::string(name); }

  static ByKey keys(std::span<const std::string> names, const std::vector<bool>& free,
                    LayerKey key) {
    ByKey by_key;
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      if (!free[i]) continue;
      std::string found = key(names[i]);
      if (!found.empty()) by_key[std::move(found)].push_back(i);
    }
    return by_key;
  }

  // One of those that are told of already, at a surer tier.
  static bool told(const NameMatches& matches, const Ambiguity& ambiguity) {
    return std::ranges::any_of(matches.unclear, [&](const Ambiguity& other) {
      return std::ranges::find(other.actual, ambiguity.actual.front()) != other.actual.end();
    });
  }

  bool may_match(std::uint64_t l, std::uint64_t r) const {
    return left_[l] == right_[r] || !may_ || may_(l, r);
  }

  void take(std::uint64_t l, std::uint64_t r, PairTier tier) {
    if (!left_free_[l] || !right_free_[r]) return;
    left_free_[l] = right_free_[r] = false;
    pairs_.push_back({l, r, tier});
  }

  void by_key(const TierRow& row) {
    if (std::ranges::find(left_free_, true) == left_free_.end()) return;
    const ByKey right = keys(right_, right_free_, row.key);
    const ByKey left = keys(left_, left_free_, row.key);
    for (std::uint64_t l = 0; l < left_.size(); ++l) {
      if (!left_free_[l]) continue;
      const std::string key = row.key(left_[l]);
      const auto others = key.empty() ? right.end() : right.find(key);
      if (others == right.end()) continue;
      const Numbers& own = left.at(key);
      if (own.size() == 1 && others->second.size() == 1) {
        if (may_match(l, others->second[0])) take(l, others->second[0], row.tier);
      } else if (own.front() == l) {
        unclear_.push_back({row.tier, own, others->second});
      }
    }
  }

  // Names of trtexec's dumps, on either side.
  void shortened() {
    for (std::uint64_t l = 0; l < left_.size(); ++l)
      if (left_free_[l] && cut(left_[l]))
        if (const auto r = only_like(stem_of(left_[l]), right_, right_free_); r && may_match(l, *r))
          take(l, *r, PairTier::sanitised);
    for (std::uint64_t r = 0; r < right_.size(); ++r)
      if (right_free_[r] && cut(right_[r]))
        if (const auto l = only_like(stem_of(right_[r]), left_, left_free_); l && may_match(*l, r))
          take(*l, r, PairTier::sanitised);
  }

  static bool cut(const std::string& name) { return name.find("...") != name.npos; }

  static std::optional<std::uint64_t> only_like(const std::string& shortened,
                                                std::span<const std::string> names,
                                                const std::vector<bool>& free) {
    std::optional<std::uint64_t> found;
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      if (!free[i] || !is_shortened(shortened, names[i])) continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }

  std::span<const std::string> left_;
  std::span<const std::string> right_;
  const MayMatch& may_;
  std::vector<bool> left_free_;
  std::vector<bool> right_free_;
  std::vector<NameMatch> pairs_;
  std::vector<Unclear> unclear_;
};

}  // namespace

NameMatches match_names(std::span<const std::string> left, std::span<const std::string> right,
                        const NameMap& map, const MayMatch& may) {
  Matching matching(left, right, may);
  matching.by_map(map);
  matching.by_tiers();
  return matching.finish();
}

std::vector<NameMatch> match_values(std::span<const std::string> names,
                                    std::span<const std::string> values) {
  std::vector<NameMatch> found = match_names(names, values).pairs;
  std::vector<bool> name_free(names.size(), true);
  std::vector<bool> value_free(values.size(), true);
  for (const NameMatch& match : found) name_free[match.left] = value_free[match.right] = false;
  std::unordered_map<std::string, std::uint64_t> last;
  for (std::uint64_t v = 0; v < values.size(); ++v)
    if (value_free[v]) last[module_path(values[v])] = v;
  std::unordered_map<std::string, std::uint64_t> asked;
  for (std::uint64_t n = 0; n < names.size(); ++n)
    if (name_free[n]) ++asked[module_path(names[n])];
  for (std::uint64_t n = 0; n < names.size(); ++n) {
    if (!name_free[n]) continue;
    const std::string path = module_path(names[n]);
    if (const auto at = last.find(path); at != last.end() && asked[path] == 1)
      found.push_back({n, at->second, PairTier::module});
  }
  return found;
}

Result<NameMap> parse_name_map(std::string_view text) {
  NameMap map;
  std::uint64_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const auto wrong = [&](const std::string& what) {
      return fail(ErrorCode::invalid_argument, "line " + std::to_string(number) + ": " + what);
    };
    if (const std::size_t tab = line.find('\t'); tab != line.npos) {
      if (tab == 0 || tab + 1 == line.size() || line.find('\t', tab + 1) != line.npos)
        return wrong("expected ACTUAL<tab>GOLDEN, found '" + std::string(line) + "'");
      map.names.emplace_back(line.substr(0, tab), line.substr(tab + 1));
      continue;
    }
    std::vector<std::string> parts(1);
    for (std::size_t i = 1; line.front() == '/' && i < line.size(); ++i) {
      if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '/')
        parts.back() += line[++i];
      else if (line[i] == '/')
        parts.emplace_back();
      else
        parts.back() += line[i];
    }
    if (parts.size() != 3 || parts[0].empty() || !parts[2].empty())
      return wrong("expected ACTUAL<tab>GOLDEN or /REGEX/REPLACEMENT/, found '" +
                   std::string(line) + "'");
    try {
      const std::regex regex(parts[0]);
    } catch (const std::regex_error&) {
      return wrong("'" + parts[0] + "' is no regular expression");
    }
    map.patterns.emplace_back(std::move(parts[0]), std::move(parts[1]));
  }
  return map;
}

}  // namespace btf
