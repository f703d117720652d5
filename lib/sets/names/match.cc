#include "sets/names/match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sets/names/name_map.h"
#include "sets/names/names.h"
#include "sets/names/prefix.h"

namespace btf {
namespace {

using Numbers = std::vector<std::uint64_t>;
using ByKey = std::unordered_map<std::string, Numbers>;

class Matching {
 public:
  Matching(std::span<const std::string> left, std::span<const std::string> right,
           const MatchOptions& options)
      : left_(left),
        right_(right),
        left_forms_(names_alone(left)),
        right_forms_(names_alone(right)),
        options_(options),
        left_free_(left.size(), true),
        right_free_(right.size(), true) {}

  void by_map(const NameMap& map) {
    if (map.empty()) return;
    MappedNames mapped = map_names(left_, right_, map);
    for (const auto& [l, r] : mapped.pairs) take(l, r, PairTier::map);
    map_.used = !mapped.pairs.empty();
    map_.unused = std::move(mapped.unused);
  }

  void by_tiers() {
    bool exact = true;
    for (const TierRow& row : tier_rows()) {
      if (row.tier != PairTier::exact && std::exchange(exact, false)) {
        // Beside equal names it is the least sure.
        if (options_.lists == NameLists::whole && !any_equal()) by_prefix();
        complete(left_forms_, left_free_);
        complete(right_forms_, right_free_);
      }
      by_key(row.tier, keys(left_forms_, left_free_, row.key),
             keys(right_forms_, right_free_, row.key));
    }
    if (options_.lists == NameLists::whole && any_equal()) by_prefix();
    shortened();
  }

  NameMatches finish() {
    std::ranges::sort(pairs_, {}, &NameMatch::left);
    NameMatches matches;
    matches.pairs = std::move(pairs_);
    matches.map = std::move(map_);
    std::unordered_set<std::uint64_t> told;  // of left, at a surer tier
    for (auto& [tier, lefts, rights] : unclear_) {
      std::erase_if(lefts, [&](std::uint64_t l) { return !left_free_[l]; });
      std::erase_if(rights, [&](std::uint64_t r) { return !right_free_[r]; });
      if (lefts.empty() || rights.empty() || told.contains(lefts.front())) continue;
      told.insert(lefts.begin(), lefts.end());
      matches.unclear.push_back({names(left_, lefts), names(right_, rights), tier});
    }
    return matches;
  }

 private:
  struct Unclear {
    PairTier tier{};
    Numbers left;
    Numbers right;
  };

  static std::vector<std::string> names(std::span<const std::string> of, const Numbers& numbers) {
    std::vector<std::string> found;
    for (const std::uint64_t number : numbers) found.push_back(of[number]);
    return found;
  }

  // The other forms are made where equal names have left something.
  static std::vector<NameForms> names_alone(std::span<const std::string> names) {
    std::vector<NameForms> forms;
    forms.reserve(names.size());
    for (const std::string& name : names) forms.push_back({.name = name});
    return forms;
  }

  static void complete(std::vector<NameForms>& forms, const std::vector<bool>& free) {
    for (std::size_t i = 0; i < forms.size(); ++i)
      if (free[i]) forms[i] = forms_of(forms[i].name);
  }

  template <typename Key>
  static ByKey keys(const std::vector<NameForms>& forms, const std::vector<bool>& free,
                    const Key& key) {
    ByKey by_key;
    for (std::uint64_t i = 0; i < forms.size(); ++i) {
      if (!free[i]) continue;
      std::string found = key(forms[i]);
      if (!found.empty()) by_key[std::move(found)].push_back(i);
    }
    return by_key;
  }

  bool may_match(PairTier tier, std::uint64_t l, std::uint64_t r) {
    if (tier == PairTier::exact || left_[l] == right_[r]) return true;
    if (tier == PairTier::prefix && !any_equal()) return true;
    if (tier == PairTier::tail && !may_be_called(left_forms_[l].module, right_forms_[r].module))
      return false;
    return !options_.may || options_.may(l, r);
  }

  // May what stands before their common end be two names of one thing? Not of the third and the
  // fourth layer, and not where the other side has it too.
  bool may_be_called(std::string_view left, std::string_view right) {
    constexpr std::string_view kMarks = "./";
    const auto last_part = [&](std::string_view& path) {
      const std::size_t begin = path.find_last_of(kMarks) + 1;
      const std::string_view part = path.substr(begin);
      path = path.substr(0, begin == 0 ? 0 : begin - 1);
      return part;
    };
    std::string_view l = left;
    std::string_view r = right;
    while (!l.empty() && !r.empty()) {
      std::string_view l_rest = l;
      std::string_view r_rest = r;
      if (last_part(l_rest) != last_part(r_rest)) break;
      l = l_rest;
      r = r_rest;
    }
    if (stands_for_itself(l) || stands_for_itself(r)) return false;
    while (!l.empty() && !r.empty())
      if (differ_by_number(last_part(l), last_part(r))) return false;
    return true;
  }

  // "layer3" and "layer4", "0" and "1".
  static bool differ_by_number(std::string_view a, std::string_view b) {
    const auto letters = [](std::string_view part) {
      std::string kept;
      for (const char c : part)
        if (c < '0' || c > '9') kept += c;
      return kept;
    };
    return a != b && a.size() > letters(a).size() && b.size() > letters(b).size() &&
           letters(a) == letters(b);
  }

  bool any_equal() const {
    return !options_.equal.empty() || std::ranges::any_of(pairs_, [](const NameMatch& match) {
      return match.tier == PairTier::exact;
    });
  }

  // Do names that both sides have begin with it?
  bool stands_for_itself(std::string_view begin) {
    if (begin.empty()) return false;
    if (!modules_known_) {
      modules_known_ = true;
      for (const std::string& name : options_.equal) modules_.push_back(module_path(name));
      for (const NameMatch& match : pairs_)
        if (match.tier == PairTier::exact) modules_.push_back(module_path(left_[match.left]));
      std::ranges::sort(modules_);
    }
    const auto at = std::ranges::lower_bound(modules_, begin);
    return at != modules_.end() && at->starts_with(begin) &&
           (at->size() == begin.size() || (*at)[begin.size()] == '.' || (*at)[begin.size()] == '/');
  }

  // A prefix that names on both sides have, too, is a part of the name.
  bool on_both_sides(std::string_view prefix) const {
    const auto has = [&](std::string_view name) { return name.starts_with(prefix); };
    return std::ranges::any_of(options_.equal, has) ||
           std::ranges::any_of(pairs_, [&](const NameMatch& match) {
             return match.tier == PairTier::exact && has(left_[match.left]);
           });
  }

  void take(std::uint64_t l, std::uint64_t r, PairTier tier) {
    if (!left_free_[l] || !right_free_[r]) return;
    left_free_[l] = right_free_[r] = false;
    pairs_.push_back({l, r, tier});
  }

  void by_key(PairTier tier, const ByKey& left, const ByKey& right) {
    const std::size_t before = unclear_.size();
    for (const auto& [key, own] : left) {
      const auto others = right.find(key);
      if (others == right.end()) continue;
      if (own.size() > 1 || others->second.size() > 1)
        unclear_.push_back({tier, own, others->second});
      else if (may_match(tier, own[0], others->second[0]))
        take(own[0], others->second[0], tier);
    }
    std::sort(unclear_.begin() + static_cast<std::ptrdiff_t>(before), unclear_.end(),
              [](const Unclear& a, const Unclear& b) { return a.left[0] < b.left[0]; });
  }

  // Where all names that are left of a side have a prefix.
  void by_prefix() {
    const auto left = free_names(left_, left_free_);
    const auto right = free_names(right_, right_free_);
    for (const NameKey key : prefix_keys()) {
      const auto prefix = find_prefix(left, right, key);
      if (!prefix) continue;
      if (on_both_sides((prefix->of_left ? left : right).front().substr(0, prefix->bytes))) return;
      const auto behind = [&](std::size_t bytes) {
        return [=](const NameForms& forms) { return key(forms.name.substr(bytes)); };
      };
      by_key(PairTier::prefix,
             keys(left_forms_, left_free_, behind(prefix->of_left ? prefix->bytes : 0)),
             keys(right_forms_, right_free_, behind(prefix->of_left ? 0 : prefix->bytes)));
      return;
    }
  }

  static std::vector<std::string_view> free_names(std::span<const std::string> names,
                                                  const std::vector<bool>& free) {
    std::vector<std::string_view> found;
    for (std::uint64_t i = 0; i < names.size(); ++i)
      if (free[i]) found.push_back(names[i]);
    return found;
  }

  // Names of trtexec's dumps, on either side.
  void shortened() {
    for (const auto& [cut, numbers] : cuts(left_, left_free_)) {
      const ByKey left = cut_keys(left_, left_free_, numbers, cut);
      by_key(PairTier::sanitised, left, cut_keys(right_, right_free_, {}, cut));
    }
    for (const auto& [cut, numbers] : cuts(right_, right_free_)) {
      const ByKey right = cut_keys(right_, right_free_, numbers, cut);
      by_key(PairTier::sanitised, cut_keys(left_, left_free_, {}, cut), right);
    }
  }

  // How they are cut, and which: a program cuts all of its names alike.
  static std::map<NameCut, Numbers> cuts(std::span<const std::string> names,
                                         const std::vector<bool>& free) {
    constexpr std::size_t kMostCuts = 4;
    std::map<NameCut, Numbers> found;
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      if (!free[i]) continue;
      const auto cut = cut_of(names[i]);
      if (cut && (found.contains(*cut) || found.size() < kMostCuts)) found[*cut].push_back(i);
    }
    return found;
  }

  // Those of the numbers, which are cut; without numbers, of all names as if they were.
  static ByKey cut_keys(std::span<const std::string> names, const std::vector<bool>& free,
                        const Numbers& numbers, const NameCut& cut) {
    ByKey by_key;
    const auto add = [&](std::uint64_t i, const std::string& name) {
      std::string key = free[i] ? cut_key(name, cut) : "";
      if (!key.empty()) by_key[std::move(key)].push_back(i);
    };
    for (const std::uint64_t i : numbers) add(i, stem_of(names[i]));
    if (numbers.empty())
      for (std::uint64_t i = 0; i < names.size(); ++i) add(i, names[i]);
    return by_key;
  }

  std::span<const std::string> left_;
  std::span<const std::string> right_;
  std::vector<NameForms> left_forms_;
  std::vector<NameForms> right_forms_;
  const MatchOptions& options_;
  std::vector<bool> left_free_;
  std::vector<bool> right_free_;
  std::vector<NameMatch> pairs_;
  std::vector<Unclear> unclear_;
  MapUse map_;
  std::vector<std::string> modules_;  // of names on both sides, once they are asked for
  bool modules_known_ = false;
};

}  // namespace

NameMatches match_names(std::span<const std::string> left, std::span<const std::string> right,
                        const NameMap& map, const MatchOptions& options) {
  Matching matching(left, right, options);
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
