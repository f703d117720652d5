#include "diff/layers/match.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "diff/layers/name_map.h"
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
    if (map.empty()) return;
    MappedNames mapped = map_names(left_, right_, map);
    for (const auto& [l, r] : mapped.pairs) take(l, r, PairTier::map);
    unused_ = std::move(mapped.unused);
  }

  void by_tiers() {
    for (const TierRow& row : tier_rows()) by_key(row);
    shortened();
  }

  NameMatches finish() {
    std::ranges::sort(pairs_, {}, &NameMatch::left);
    NameMatches matches;
    matches.pairs = std::move(pairs_);
    matches.unused = std::move(unused_);
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
  std::vector<std::string> unused_;
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

}  // namespace btf
