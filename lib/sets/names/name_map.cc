#include "sets/names/name_map.h"

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>
#include <unordered_map>

#include "btf/try.h"

namespace btf {
namespace {

// std::regex takes stack for each character, of a name and of an expression.
constexpr std::size_t kLongestMatched = 4096;
constexpr std::size_t kLongestPattern = 4096;

// By a search whose time grows with the length of a name, and not exponentially as that of one that
// goes back and tries again: "(a+)+b" on forty letters would take hours. An expression that refers
// to a group of its own can only be searched for by the latter.
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

  // Why only() has none.
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

  // A pattern stands for many names: one without a partner is reported only if none has one.
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
        used = true;  // a surer line has it
        continue;
      }
      const std::string other = std::regex_replace(name, regex, line.golden);
      const auto r = right_.only(other);
      const std::string makes = "it makes '" + other + "' of '" + name + "'";
      if (r && !right_.taken(*r)) {
        take(l, *r);
        used = true;
      } else if (r) {
        unused_.try_emplace(line.line, makes + ", and another name has that partner");
      } else if (partnerless.empty()) {
        partnerless = makes + ", and " + right_.lack(other);
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
      return wrong("a regular expression of " + std::to_string(parts[0].size()) +
                   " bytes, of at most " + std::to_string(kLongestPattern));
    try {
      static_cast<void>(compiled(parts[0]));
    } catch (const std::regex_error&) {
      return wrong("'" + parts[0] + "' is not a regular expression");
    }
    // As sed and Python write it, and a name may hold.
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

}  // namespace btf
