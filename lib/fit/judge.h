// Judges which nodes must stay wide, and why, from the measures of one dump. Results near an edge
// of a function's domain are computed again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/fit.h"
#include "fit/dump_measures.h"
#include "fit/node_measure.h"
#include "fit/sensitivity.h"
#include "network/network.h"

namespace btf {

struct NodeFinding {
  FitReason reason{};
  std::uint32_t value = network::kNoValue;
  std::uint32_t node = network::kNoNode;  // `feeds`: the node that does not tolerate its error
  double number = 0;
  double limit = 0;
};

// Relative errors of a result, in u. Up to the first, they are usual on a narrow device. Above the
// second, they are tolerated only if next to nothing of them reaches an output.
inline constexpr double kFitNegligible = 4;
inline constexpr double kFitTolerance = 8;

// The findings of each node that has any, in the order in which they were found.
std::map<std::uint32_t, std::vector<NodeFinding>> judge_nodes(const network::Network& network,
                                                              const Flow& flow, const Dump& dump,
                                                              const DumpMeasures& measures,
                                                              const NarrowType& type);

// Returns true if the node's type can be chosen: it has floats among its inputs or outputs, and its
// results depend on the network's inputs.
bool is_fit_layer(const network::Network& network, const DumpMeasures& measures,
                  std::uint32_t node);

}  // namespace btf
