// The effect of rounding on a node's result, as far as its own inputs tell. Whether these have
// their numbers by chance, what stands before them tells: both cases are measured.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/measure/node_measure.h"

namespace btf {

struct NodeVariants {
  NodeMeasure plain;
  // With all inputs by chance of which that may be so; nothing: there is none.
  std::optional<NodeMeasure> lucky{};
};

// Has the value its numbers by chance, if those that it is computed from are off by more?
bool may_be_lucky(const ValueNoise& value, const NarrowType& type);

// Takes the numbers for such as are the type's by chance. `largest`: where all are zero, the root
// mean square of what they are computed from.
void make_lucky(ValueNoise& value, const NarrowType& type, double largest);

// The noise of a value of the network, before what stands before it is known.
ValueNoise lucky_if_it_may(const network::Network& network, std::uint32_t which,
                           const ValueNoise& value, const NarrowType& type);

// `lucky`: all values by lucky_if_it_may().
NodeVariants measure_variants(const NodeContext& context, const std::vector<ValueNoise>& lucky,
                              std::uint32_t node);

// Once all values are known. The node is measured here where a value of zeros is by chance off by
// something: by how much was not known.
NodeMeasure chosen(const NodeContext& context, std::uint32_t node, const NodeVariants& variants);

}  // namespace btf
