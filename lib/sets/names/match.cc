// Pairs names of two lists by tiers, by a common prefix, and by maps.
#include "sets/names/match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "btf/try.h"
#include "sets/names/name_keys.h"

namespace btf {
namespace {

struct NamePrefix {
  bool of_left = false;
  std::size_t bytes = 0;
};

using Names = std::vector<std::string_view>;

// Each candidate prefix costs a pass over all names.
constexpr std::size_t kMaxPrefixes = 16;

bool ends_part(char c) {
  constexpr std::string_view kMarks = "./:_-|#";
  return kMarks.contains(c);
}

// Positions after which all names have a remaining part, where a common part of them ends.
std::vector<std::size_t> common_prefixes(const Names& names) {
  std::vector<std::size_t> ends;
  if (names.empty()) return ends;
  std::size_t common = names.front().size();
  for (const std::string_view name : names) {
    const auto [own, other] = std::ranges::mismatch(names.front().substr(0, common), name);
    common = static_cast<std::size_t>(own - names.front().begin());
    common = std::min(common, name.empty() ? 0 : name.size() - 1);
  }
  for (std::size_t at = 0; at < common && ends.size() < kMaxPrefixes; ++at)
    if (ends_part(names.front()[at])) ends.push_back(at + 1);
  return ends;
}

// The hashes of keys that only one name has, sorted. A collision only causes another prefix to be
// tried.
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

// The prefix without which most names have a partner with an equal key. Unset if there is none or
// if several are equally good.
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

// std::regex uses stack for each character of the name and of the expression.
constexpr std::size_t kLongestMatched = 4096;
constexpr std::size_t kLongestPattern = 4096;

// Uses a search whose time is linear in the length of the name instead of backtracking, which would
// take hours for "(a+)+b" on forty letters. Expressions with back references can only be searched
// for by backtracking.
std::regex compiled(const std::string& pattern) {
#ifdef __GLIBCXX__
  try {
    return std::regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    if (error.code() != std::regex_constants::error_complexity) throw;
  }
#endif
  return std::regex(pattern);
}

// Returns true if a count, as in "a{2,3}", or a group number has more digits than std::regex can
// hold.
bool counts_too_far(std::string_view pattern) {
  constexpr std::size_t kMaxDigits = 4;
  constexpr std::string_view kDigits = "0123456789";
  const auto digits_at = [&](std::size_t at) {
    return std::min(pattern.find_first_not_of(kDigits, at), pattern.size()) - at;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (digits_at(i + 1) > kMaxDigits) return true;
      ++i;
    } else if (pattern[i] == '{') {
      const std::size_t least = digits_at(i + 1);
      const std::size_t comma = i + 1 + least;
      const std::size_t most =
          comma < pattern.size() && pattern[comma] == ',' ? digits_at(comma + 1) : 0;
      if (std::max(least, most) > kMaxDigits) return true;
    }
  }
  return false;
}

// The names of one side.
class MapSide {
 public:
  MapSide(std::string_view title, std::span<const std::string> names)
      : title_(title), names_(names), taken_(names.size(), false) {
    for (std::uint64_t i = 0; i < names.size(); ++i) numbers_[names[i]].push_back(i);
  }

  std::span<const std::string> names() const { return names_; }
  bool taken(std::uint64_t number) const { return taken_[number]; }
  void take(std::uint64_t number) { taken_[number] = true; }

  std::optional<std::uint64_t> only(const std::string& name) const {
    const auto at = numbers_.find(name);
    if (at == numbers_.end() || at->second.size() > 1) return std::nullopt;
    return at->second.front();
  }

  // Explains why only() returns nothing.
  std::string lack(const std::string& name) const {
    const auto at = numbers_.find(name);
    if (at == numbers_.end()) return std::string(title_) + " has no '" + name + "'";
    return std::string(title_) + " has " + std::to_string(at->second.size()) + " tensors called '" +
           name + "'";
  }

 private:
  std::string_view title_;
  std::span<const std::string> names_;
  std::vector<bool> taken_;
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> numbers_;
};

class MapReading {
 public:
  MapReading(std::span<const std::string> left, std::span<const std::string> right)
      : left_("ACTUAL", left), right_("GOLDEN", right) {}

  MappedNames run(const NameMap& map) {
    for (const NameRule& line : map.names) take_line(line);
    for (const NameRule& line : map.patterns) take_pattern(line);
    for (auto& [number, text] : unused_)
      found_.unused.push_back("line " + std::to_string(number) + ": " + std::move(text));
    return std::move(found_);
  }

 private:
  void take(std::uint64_t l, std::uint64_t r) {
    left_.take(l);
    right_.take(r);
    found_.pairs.emplace_back(l, r);
  }

  void take_line(const NameRule& line) {
    const auto l = left_.only(line.actual);
    const auto r = right_.only(line.golden);
    if (l && r) return take(*l, *r);
    std::string& why = unused_[line.line];
    if (!l) why = left_.lack(line.actual);
    if (!l && !r) why += ", ";
    if (!r) why += right_.lack(line.golden);
  }

  // A pattern matches many names. A name without a partner is reported only if none has one.
  void take_pattern(const NameRule& line) {
    const std::regex regex = compiled(line.actual);
    std::uint64_t matches = 0;
    bool used = false;
    std::string partnerless;
    for (std::uint64_t l = 0; l < left_.names().size(); ++l) {
      const std::string& name = left_.names()[l];
      if (name.size() > kLongestMatched || !std::regex_search(name, regex)) continue;
      ++matches;
      if (left_.taken(l)) {
        used = true;  // a line with higher precedence has paired it
        continue;
      }
      const std::string other = std::regex_replace(name, regex, line.golden);
      const auto r = right_.only(other);
      const std::string makes = "it turns '" + name + "' into '" + other + "'";
      if (r && !right_.taken(*r)) {
        take(l, *r);
        used = true;
      } else if (r) {
        unused_.try_emplace(line.line, makes + ", which is paired with another name");
      } else if (partnerless.empty()) {
        partnerless = makes + ", but " + right_.lack(other);
      }
    }
    if (matches == 0)
      unused_.try_emplace(line.line, "no name of ACTUAL matches '" + line.actual + "'");
    else if (!used)
      unused_.try_emplace(line.line, std::move(partnerless));
  }

  MapSide left_;
  MapSide right_;
  MappedNames found_;
  std::map<std::uint64_t, std::string> unused_;
};

class MapParser {
 public:
  Result<NameMap> run(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || line.starts_with('#')) continue;
      const std::size_t tab = line.find('\t');
      BTF_TRY(tab == line.npos ? take_pattern(line) : take_names(line, tab));
    }
    return std::move(map_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return fail(ErrorCode::invalid_argument, "line " + std::to_string(number_) + ": " + what);
  }

  Status take_names(std::string_view line, std::size_t tab) {
    if (tab == 0 || tab + 1 == line.size() || line.find('\t', tab + 1) != line.npos)
      return wrong("expected ACTUAL<tab>GOLDEN, found '" + std::string(line) + "'");
    const std::string actual(line.substr(0, tab));
    const std::string golden(line.substr(tab + 1));
    BTF_TRY(once(actual_, actual, "ACTUAL"));
    BTF_TRY(once(golden_, golden, "GOLDEN"));
    map_.names.push_back({actual, golden, number_});
    return {};
  }

  using Lines = std::unordered_map<std::string, std::uint64_t>;

  Status once(Lines& lines, const std::string& name, const std::string& side) const {
    const auto [first, added] = lines.emplace(name, number_);
    if (added) return {};
    return wrong("'" + name + "' of " + side + " is in line " + std::to_string(first->second) +
                 " already");
  }

  Status take_pattern(std::string_view line) {
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
    if (parts[0].size() > kLongestPattern)
      return wrong("the regular expression has " + std::to_string(parts[0].size()) +
                   " bytes; at most " + std::to_string(kLongestPattern) + " are supported");
    if (counts_too_far(parts[0]))
      return wrong("'" + parts[0] +
                   "' has a count, or the number of a group, of more than 4 digits");
    try {
      static_cast<void>(compiled(parts[0]));
    } catch (const std::regex_error&) {
      return wrong("'" + parts[0] + "' is not a regular expression");
    }
    // sed and Python write groups like this, but a name may contain it too.
    for (std::size_t i = 0; i + 1 < parts[1].size(); ++i)
      if (parts[1][i] == '\\' && parts[1][i + 1] >= '0' && parts[1][i + 1] <= '9')
        return wrong("'" + parts[1].substr(i, 2) + "' in the replacement '" + parts[1] +
                     "' is not a group here: write $" + parts[1][i + 1]);
    map_.patterns.push_back({std::move(parts[0]), std::move(parts[1]), number_});
    return {};
  }

  NameMap map_;
  std::uint64_t number_ = 0;
  Lines actual_;
  Lines golden_;
};

}  // namespace

MappedNames map_names(std::span<const std::string> left, std::span<const std::string> right,
                      const NameMap& map) {
  return MapReading(left, right).run(map);
}

Error no_use(const MapUse& use, const std::string& path) {
  std::string text = "no line of the map pairs anything";
  if (!use.unused.empty()) text += ": " + use.unused.front();
  if (use.unused.size() > 1) text += "; " + std::to_string(use.unused.size() - 1) + " more";
  return Error{ErrorCode::refused, text}.in_file(path);
}

Result<NameMap> parse_name_map(std::string_view text) { return MapParser().run(text); }

namespace {

using Numbers = std::vector<std::uint64_t>;
using ByKey = std::unordered_map<std::string, Numbers>;

// The forms of a tensor that a quantised side has, by the name of the tensor. Tensors that only
// have their plain form are left out.
struct Form {
  QdqForm form{};
  std::uint64_t number = 0;
};
using Families = std::unordered_map<std::string, std::vector<Form>>;

Families families_of(std::span<const std::string> names, const std::vector<bool>& free) {
  Families families;
  std::vector<QdqName> forms;
  forms.reserve(names.size());
  std::unordered_map<std::string_view, int> times;
  for (const std::string& name : names) {
    forms.push_back(qdq_name(name));
    ++times[name];
  }
  const auto add = [&](bool plain) {
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      // Two tensors with the same name cannot be distinguished.
      if (!free[i] || times[names[i]] > 1) continue;
      if ((forms[i].form == QdqForm::plain) != plain) continue;
      if (!plain || families.contains(forms[i].base))
        families[forms[i].base].push_back({forms[i].form, i});
    }
  };
  add(false);
  if (!families.empty()) add(true);
  for (auto& [base, members] : families)
    std::ranges::stable_sort(members, [&](const Form& a, const Form& b) {
      return std::pair(a.form, std::string_view(names[a.number])) <
             std::pair(b.form, std::string_view(names[b.number]));
    });
  return families;
}

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
    by_qdq();
    bool exact = true;
    for (const TierRow& row : tier_rows()) {
      if (row.tier != PairTier::exact && std::exchange(exact, false)) {
        // With equal names present, the prefix is the least reliable criterion.
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
    std::unordered_set<std::uint64_t> reported;  // left names reported at a stricter tier
    for (auto& [tier, lefts, rights] : unclear_) {
      std::erase_if(lefts, [&](std::uint64_t l) { return !left_free_[l]; });
      std::erase_if(rights, [&](std::uint64_t r) { return !right_free_[r]; });
      if (lefts.empty() || rights.empty() || reported.contains(lefts.front())) continue;
      reported.insert(lefts.begin(), lefts.end());
      matches.unclear.push_back({names(left_, lefts), names(right_, rights), tier});
    }
    std::unordered_set<std::uint64_t> left_paired;
    std::unordered_set<std::uint64_t> right_paired;
    for (const NameMatch& match : matches.pairs) {
      left_paired.insert(match.left);
      right_paired.insert(match.right);
    }
    for (const Beside& beside : beside_) {
      const auto& paired = beside.of_left ? left_paired : right_paired;
      if (beside.compared && !paired.contains(*beside.compared)) continue;
      (beside.of_left ? matches.left_substituted : matches.right_substituted)
          .push_back({beside.number, beside.compared
                                         ? (beside.of_left ? left_ : right_)[*beside.compared]
                                         : beside.base});
    }
    return matches;
  }

 private:
  // A form that is not compared since another one is, or since a tensor with the base name is
  // already paired.
  struct Beside {
    bool of_left = false;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> compared{};
    std::string base{};
  };

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

  // The other forms are only computed for names that equal names leave unpaired.
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
    if (tier == PairTier::tail && !may_be_same(left_forms_[l].module, right_forms_[r].module))
      return false;
    return !options_.may || options_.may(l, r);
  }

  // Returns true if the parts before the common end may be two names of the same module. False for
  // the third and fourth layer, and if the other side has the module too.
  bool may_be_same(std::string_view left, std::string_view right) {
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
    if (is_shared_path(l) || is_shared_path(r)) return false;
    while (!l.empty() && !r.empty())
      if (differ_by_number(last_part(l), last_part(r))) return false;
    return true;
  }

  // True for "layer3" and "layer4", or "0" and "1".
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

  // Returns true if names that both sides have begin with this path.
  bool is_shared_path(std::string_view begin) {
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

  // A prefix that names on both sides have is part of the name.
  bool on_both_sides(std::string_view prefix) const {
    const auto has = [&](std::string_view name) { return name.starts_with(prefix); };
    return std::ranges::any_of(options_.equal, has) ||
           std::ranges::any_of(pairs_, [&](const NameMatch& match) {
             return match.tier == PairTier::exact && has(left_[match.left]);
           });
  }

  // If only one side is quantised, one form of each of its tensors is compared: the one that it
  // computes with, else the tensor itself, else its codes.
  void by_qdq() {
    const Families left = families_of(left_, left_free_);
    const Families right = families_of(right_, right_free_);
    if (left.empty() && right.empty()) return;
    const std::unordered_set<std::string> equal(options_.equal.begin(), options_.equal.end());
    std::unordered_set<std::string> on_both;
    for (const std::string& name : equal)
      if (QdqName own = qdq_name(name); own.form != QdqForm::plain)
        on_both.insert(std::move(own.base));
    for (const auto& [base, members] : left)
      if (right.contains(base)) on_both.insert(base);
    choose_forms(left, keys(right_forms_, right_free_, tier_rows().front().key), on_both, equal,
                 true);
    choose_forms(right, keys(left_forms_, left_free_, tier_rows().front().key), on_both, equal,
                 false);
  }

  void choose_forms(const Families& families, const ByKey& others,
                    const std::unordered_set<std::string>& on_both,
                    const std::unordered_set<std::string>& equal, bool of_left) {
    for (const auto& [base, members] : families) {
      if (on_both.contains(base)) continue;
      const auto other = others.find(base);
      const bool known = other != others.end() && other->second.size() == 1;
      const Form* chosen = equal.contains(base) ? nullptr : &members.front();
      if (chosen != nullptr && known) {
        const auto may = [&](const Form& form) {
          const std::uint64_t l = of_left ? form.number : other->second[0];
          const std::uint64_t r = of_left ? other->second[0] : form.number;
          return form.form == QdqForm::plain || may_match(PairTier::qdq, l, r);
        };
        const auto fit = std::ranges::find_if(members, may);
        if (fit == members.end()) continue;
        chosen = &*fit;
        const PairTier tier = fit->form == QdqForm::plain ? PairTier::exact : PairTier::qdq;
        take(of_left ? fit->number : other->second[0], of_left ? other->second[0] : fit->number,
             tier);
      }
      for (const Form& form : members) {
        if (&form == chosen) continue;
        (of_left ? left_free_ : right_free_)[form.number] = false;
        beside_.push_back(
            {.of_left = of_left,
             .number = form.number,
             .compared = chosen == nullptr ? std::nullopt : std::optional(chosen->number),
             .base = base});
      }
    }
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

  // Pairs names if all remaining names of a side share a prefix.
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

  // Pairs names that trtexec has shortened, on either side.
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

  // The cuts that occur, and the names with each; a program cuts all its names alike.
  static std::map<NameCut, Numbers> cuts(std::span<const std::string> names,
                                         const std::vector<bool>& free) {
    constexpr std::size_t kMaxCuts = 4;
    std::map<NameCut, Numbers> found;
    for (std::uint64_t i = 0; i < names.size(); ++i) {
      if (!free[i]) continue;
      const auto cut = cut_of(names[i]);
      if (cut && (found.contains(*cut) || found.size() < kMaxCuts)) found[*cut].push_back(i);
    }
    return found;
  }

  // The keys of the given names, which are cut; if there are none, of all names as if they were
  // cut.
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
  std::vector<Beside> beside_;
  MapUse map_;
  // Modules of names that both sides have, computed when first needed.
  std::vector<std::string> modules_;
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

std::unordered_set<std::string> replaced_names(std::span<const std::string> left,
                                               std::span<const std::string> right) {
  std::unordered_set<std::string> replaced;
  const auto bases = [](std::span<const std::string> names) {
    // Whether the tensor is computed with in this form.
    std::unordered_map<std::string, bool> bases;
    for (const std::string& name : names)
      if (QdqName own = qdq_name(name); own.form != QdqForm::plain)
        bases[std::move(own.base)] |= own.form <= QdqForm::dequantised_again;
    return bases;
  };
  const auto left_bases = bases(left);
  const auto right_bases = bases(right);
  const auto add = [&](const auto& own, const auto& others, std::span<const std::string> names) {
    for (const std::string& name : names) {
      const auto at = own.find(name);
      if (at != own.end() && at->second && !others.contains(name)) replaced.insert(name);
    }
  };
  add(left_bases, right_bases, right);
  add(right_bases, left_bases, left);
  return replaced;
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
