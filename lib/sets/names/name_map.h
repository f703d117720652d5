// The pairs of a map of names, and the lines of it that pair nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/layers/pair_names.h"

namespace btf {

struct MappedNames {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;  // left, right; each once
  std::vector<std::string> unused;  // "line 3: ACTUAL has no 'conv1'", by lines
};

MappedNames map_names(std::span<const std::string> left, std::span<const std::string> right,
                      const NameMap& map);

}  // namespace btf
