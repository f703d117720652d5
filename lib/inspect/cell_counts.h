// Counts of ordinals: how many lie below one, and which is the n-th. Found in as many passes over
// the elements as it takes, each of which looks closer at the cells that still matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "btf/error.h"
#include "inspect/code_order.h"
#include "inspect/element_passes.h"

namespace btf {

// A question about the ordinals in a range, and its answer.
struct BelowQuery {
  std::uint64_t ordinal = 0;
  std::uint64_t below = 0;
};
struct RankQuery {
  std::uint64_t rank = 0;  // from 0, of those in the range
  std::uint64_t ordinal = 0;
};

// `memory`: bytes for the counts of all workers.
Status count_cells(const ElementPasses& passes, const CodeOrder& order, OrdinalRange range,
                   std::span<BelowQuery> below, std::span<RankQuery> ranks, std::uint64_t memory);

}  // namespace btf
