// Which index of golden's dim stands at each of actual's, where the indices of one dim are in
// another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/hints/models/rearrangement.h"

namespace btf::hints {

struct IndexOrder {
  std::vector<std::uint32_t> source;  // golden's of each of actual's; kNowhere: none is like it
  std::uint64_t moved = 0;            // those that are another one's
  std::uint64_t strange = 0;          // like none
  std::uint64_t repeated = 0;         // of golden, that occur at more than one index
  std::uint64_t missing = 0;          // of golden, that stand nowhere
  double bits = 0;                    // -log2 of the chance that so many find their like
  std::string sorted{};               // "descending order of [:, 4]", where it is
};

// By some elements of every index. Dense sides, dims in bounds; nothing where most indices that
// differ have no equal, by a few columns of golden.
Result<std::optional<IndexOrder>> find_index_order(const Inquiry& inquiry, std::size_t dim);

}  // namespace btf::hints
