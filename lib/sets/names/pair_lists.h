// Two lists of names made pairs: by a map and by tiers, with what is said of names that have none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/layers/pair_names.h"
#include "sets/names/match.h"

namespace btf {

struct NamePair {
  std::optional<std::uint64_t> left{};
  std::optional<std::uint64_t> right{};
  std::optional<PairTier> tier{};  // nothing: the names are equal, or one of them is alone
  std::string note{};              // of one that is alone: which could be meant
};

struct NamePairing {
  std::vector<NamePair> pairs;  // by left; then what only the right list has. Each name once
  MapUse map;
};

// Pairs all names of both sides, or all that are left of them besides those that are `equal`.
NamePairing pair_lists(std::span<const std::string> left, std::span<const std::string> right,
                       const NameMap& map, const MayMatch& may,
                       std::span<const std::string> equal = {});

// Does the note say that another form of the tensor is compared in its place?
bool is_beside(const std::string& note);

// Close names of the other side for names without a pair: a note for each of the left list, then of
// the right one. Empty: nothing is close.
std::vector<std::string> close_names(std::span<const std::string> left,
                                     std::span<const std::string> right);

}  // namespace btf
