// Which names of two lists belong together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

struct NameMatch {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  PairTier tier = PairTier::exact;
};

struct NameMatches {
  std::vector<NameMatch> pairs;    // by left
  std::vector<Ambiguity> unclear;  // of what no pair has
  std::vector<std::string> unused;  // lines of the map that pair nothing, and why
};

// May these two be a pair? Asked where names are not equal.
using MayMatch = std::function<bool(std::uint64_t left, std::uint64_t right)>;

NameMatches match_names(std::span<const std::string> left, std::span<const std::string> right,
                        const NameMap& map = {}, const MayMatch& may = {});

// Of values of a graph: where several have the key of a module, the last of them is its output.
std::vector<NameMatch> match_values(std::span<const std::string> names,
                                    std::span<const std::string> values);

}  // namespace btf
