// Where a function of elements ends: a divisor of 0, the logarithm of 0, the root of a negative
// number, the arc cosine of 1. What rounding does beside such an end shows in few results only.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/error.h"
#include "fit/measure/node_measure.h"

namespace btf {

struct EdgeResult {
  std::uint32_t value = 0;   // the input whose number is near an edge
  std::uint64_t result = 0;  // number of an element
  double weight = 0;         // results that it stands for
};

// Some results of the node, of each distance from an edge a few. None: it has no edges, or its
// inputs are weights. `alike`: also of an input whose numbers are all about as large.
Result<std::vector<EdgeResult>> results_at_edges(const NodeContext& context, std::uint32_t node,
                                                 bool alike);

}  // namespace btf
