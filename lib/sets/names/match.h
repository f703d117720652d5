// Pairs names of two lists: tiers, a common prefix, and maps.
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
  std::vector<std::string> unused;  // as "line 3: ACTUAL has no 'conv1'", by line
};

MappedNames map_names(std::span<const std::string> left, std::span<const std::string> right,
                      const NameMap& map);

struct NameMatch {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  PairTier tier = PairTier::exact;
};

// A name without a pair, and the form of the tensor on the same side that is compared instead.
struct SubstitutedName {
  std::uint64_t number = 0;
  std::string compared;
};

struct NameMatches {
  std::vector<NameMatch> pairs;    // sorted by left; each name at most once
  std::vector<Ambiguity> unclear;  // for names without a pair
  std::vector<SubstitutedName> left_substituted;
  std::vector<SubstitutedName> right_substituted;
  MapUse map;
};

// Returns true if these two may be a pair. Called for names that are not equal, or only without a
// prefix.
using MayMatch = std::function<bool(std::uint64_t left, std::uint64_t right)>;

// Whether the lists are all names or all remaining names. Only then can a beginning that all of a
// list share be a prefix.
enum class NameLists : bool { parts, whole };

struct MatchOptions {
  MayMatch may{};
  NameLists lists = NameLists::parts;
  // Names that both sides have and that are in neither list. Modules that they begin with are not
  // renamed.
  std::span<const std::string> equal{};
};

NameMatches match_names(std::span<const std::string> left, std::span<const std::string> right,
                        const NameMap& map = {}, const MatchOptions& options = {});

// Names that both sides have for different tensors: a quantised side has, in addition to X, the
// tensor made of X that it computes with, and the other side only has X.
std::unordered_set<std::string> replaced_names(std::span<const std::string> left,
                                               std::span<const std::string> right);

// For values of a graph: if several have the key of a module, the last one is its output.
std::vector<NameMatch> match_values(std::span<const std::string> names,
                                    std::span<const std::string> values);

}  // namespace btf
