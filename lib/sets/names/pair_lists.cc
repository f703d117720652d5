#include "sets/names/pair_lists.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace btf {
namespace {

std::string tier_name(PairTier tier) {
  return std::string(
      std::ranges::find(pair_tier_names(), tier, &Named<PairTier>::value)->name);
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  return text + (names.size() > kShown ? ", ..." : "");
}

// By name: the note on an ambiguity that the name is part of.
using Notes = std::unordered_map<std::string, std::string>;

void add_unclear(const std::vector<Ambiguity>& unclear, Notes& left, Notes& right) {
  for (const Ambiguity& found : unclear) {
    const bool one = found.golden.size() == 1;
    const std::string text = list_of(one ? found.golden : found.actual) + " could be " +
                             list_of(one ? found.actual : found.golden) + " (" +
                             tier_name(found.tier) + ")";
    for (const std::string& name : found.actual) left.emplace(name, text);
    for (const std::string& name : found.golden) right.emplace(name, text);
  }
}

constexpr std::string_view kInItsPlace = "' is compared in its place";

std::string beside_note(const std::string& compared) {
  return "'" + compared + std::string(kInItsPlace);
}

std::string close_to(const std::string& name) { return "'" + name + "' is close"; }

// How many characters are to be changed, added or taken away; `most` + 1: more than `most`.
std::size_t changes(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t kept = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({kept, row[j] + 1, row[j - 1] + 1});
    }
  }
  return std::min(row[b.size()], most + 1);
}

// The one that is spelled almost so; nothing: none, or several.
std::optional<std::uint64_t> nearest(const std::string& name, std::span<const std::string> others) {
  constexpr std::size_t kMost = 3;
  std::size_t least = kMost;
  std::optional<std::uint64_t> found;
  bool several = false;
  for (std::uint64_t i = 0; i < others.size(); ++i) {
    const std::size_t most = std::min(least, std::max(name.size(), others[i].size()) / 3);
    const std::size_t count = changes(name, others[i], most);
    if (count > most) continue;
    several = found && count == least;
    if (!several) found = i;
    least = count;
  }
  return several ? std::nullopt : found;
}

// Names that differ by a number alone are different tensors: "conv1" is not "conv2".
bool numbers_differ(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    std::string found;
    for (const char c : text)
      if (c >= '0' && c <= '9') found += c;
    return found;
  };
  return digits(a) != digits(b);
}

void add_nearest(std::span<const std::string> names, std::span<const std::string> others,
                 std::vector<std::string>& notes, std::size_t first) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!notes[first + i].empty()) continue;
    const auto found = nearest(names[i], others);
    if (found && !numbers_differ(names[i], others[*found]))
      notes[first + i] = close_to(others[*found]);
  }
}

}  // namespace

bool is_beside(const std::string& note) { return note.ends_with(kInItsPlace); }

std::vector<std::string> close_names(std::span<const std::string> left,
                                     std::span<const std::string> right) {
  std::vector<std::string> notes(left.size() + right.size());
  if (left.empty() || right.empty()) return notes;
  for (const NameMatch& match : match_names(left, right).pairs) {
    if (match.tier == PairTier::exact) continue;
    notes[match.left] = close_to(right[match.right]);
    notes[left.size() + match.right] = close_to(left[match.left]);
  }
  // Each with each is for few.
  constexpr std::size_t kMostCompared = 4096;
  constexpr std::size_t kLongest = 256;
  const auto is_long = [](const std::string& name) { return name.size() > kLongest; };
  if (left.size() > kMostCompared / right.size() || std::ranges::any_of(left, is_long) ||
      std::ranges::any_of(right, is_long))
    return notes;
  add_nearest(left, right, notes, 0);
  add_nearest(right, left, notes, left.size());
  return notes;
}

NamePairing pair_lists(std::span<const std::string> left, std::span<const std::string> right,
                       const NameMap& map, const MayMatch& may,
                       std::span<const std::string> equal) {
  NameMatches matches =
      match_names(left, right, map, {.may = may, .lists = NameLists::whole, .equal = equal});
  NamePairing found;
  found.map = std::move(matches.map);
  Notes left_notes;
  Notes right_notes;
  add_unclear(matches.unclear, left_notes, right_notes);
  for (const BesideMatch& beside : matches.left_beside)
    left_notes.emplace(left[beside.number], beside_note(beside.compared));
  for (const BesideMatch& beside : matches.right_beside)
    right_notes.emplace(right[beside.number], beside_note(beside.compared));
  std::vector<bool> right_free(right.size(), true);
  std::vector<std::string> left_alone;
  std::vector<std::string> right_alone;
  auto match = matches.pairs.begin();
  for (std::uint64_t l = 0; l < left.size(); ++l) {
    NamePair pair{.left = l};
    if (match != matches.pairs.end() && match->left == l) {
      pair.right = match->right;
      if (match->tier != PairTier::exact) pair.tier = match->tier;
      right_free[match->right] = false;
      ++match;
    } else {
      left_alone.push_back(left[l]);
    }
    found.pairs.push_back(std::move(pair));
  }
  for (std::uint64_t r = 0; r < right.size(); ++r) {
    if (!right_free[r]) continue;
    right_alone.push_back(right[r]);
    found.pairs.push_back({.right = r});
  }
  // Left ones stand before right ones in both.
  const std::vector<std::string> close = close_names(left_alone, right_alone);
  std::size_t alone = 0;
  for (NamePair& pair : found.pairs) {
    if (pair.left && pair.right) continue;
    const Notes& notes = pair.left ? left_notes : right_notes;
    const auto unclear = notes.find(pair.left ? left[*pair.left] : right[*pair.right]);
    pair.note = unclear == notes.end() ? close[alone] : unclear->second;
    ++alone;
  }
  return found;
}

}  // namespace btf
