// Finds the order in which the indices of one of golden's dims occur in actual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/hints/models/rearrangement.h"

namespace btf::hints {

struct IndexOrder {
  std::vector<std::uint32_t>
      source;                   // for each index of actual, golden's; kNoIndex if none matches
  std::uint64_t moved = 0;      // indices that match another index of golden
  std::uint64_t unmatched = 0;  // indices that match none
  std::uint64_t repeated = 0;   // indices of golden that occur more than once
  std::uint64_t missing = 0;    // indices of golden that do not occur
  double bits = 0;              // -log2 of the chance of this many matches
  std::string sorted{};         // "descending order of [:, 4]" if golden was sorted, else empty
};

// Compares some elements of every index. The sides are dense and `dim` is in range. Unset where
// most indices that differ have no match, as a few columns of golden show.
Result<std::optional<IndexOrder>> find_index_order(const SearchContext& context, std::size_t dim);

}  // namespace btf::hints
