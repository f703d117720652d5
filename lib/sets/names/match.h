// Which names of two lists belong together: tiers, a prefix of all names, and maps.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "btf/pair_names.h"

namespace btf {

struct MappedNames {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;  // left, right; each once
  std::vector<std::string> unused;  // "line 3: ACTUAL has no 'conv1'", by lines
};

MappedNames map_names(std::span<const std::string> left, std::span<const std::string> right,
                      const NameMap& map);

// Which names of two lists belong together.

// Which names of two lists belong together.

struct NameMatch {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  PairTier tier = PairTier::exact;
};

// A name without a pair, and what is compared in its place: another form of it on the same side.
struct BesideMatch {
  std::uint64_t number = 0;
  std::string compared;
};

struct NameMatches {
  std::vector<NameMatch> pairs;    // by left; each name once
  std::vector<Ambiguity> unclear;  // of what no pair has
  std::vector<BesideMatch> left_beside;
  std::vector<BesideMatch> right_beside;
  MapUse map;
};

// May these two be a pair? Asked where names are not equal, be it without a prefix.
using MayMatch = std::function<bool(std::uint64_t left, std::uint64_t right)>;

// Are the lists all names that there are, or all that are left? Only then is what all of a list
// begin with a prefix.
enum class NameLists : bool { parts, whole };

struct MatchOptions {
  MayMatch may{};
  NameLists lists = NameLists::parts;
  // Names that both sides have, and that are in neither list: what these begin with stands for
  // itself, and is not what the other side calls something else.
  std::span<const std::string> equal{};
};

NameMatches match_names(std::span<const std::string> left, std::span<const std::string> right,
                        const NameMap& map = {}, const MatchOptions& options = {});

// Names that both sides have, but not for one tensor: a quantised side has, beside X, what it makes
// of X and computes with, and the other side has X alone.
std::unordered_set<std::string> replaced_names(std::span<const std::string> left,
                                               std::span<const std::string> right);

// For values of a graph: where several have the key of a module, the last of them is its output.
std::vector<NameMatch> match_values(std::span<const std::string> names,
                                    std::span<const std::string> values);

}  // namespace btf
