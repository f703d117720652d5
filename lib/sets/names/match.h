// Which names of two lists belong together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "btf/layers/pair_names.h"

namespace btf {

struct NameMatch {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  PairTier tier = PairTier::exact;
};

struct NameMatches {
  std::vector<NameMatch> pairs;    // by left; each name once
  std::vector<Ambiguity> unclear;  // of what no pair has
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

// For values of a graph: where several have the key of a module, the last of them is its output.
std::vector<NameMatch> match_values(std::span<const std::string> names,
                                    std::span<const std::string> values);

}  // namespace btf
