// Which nodes must stay wide, and why, from what was measured of one dump; with results computed
// anew where a function of elements ends.
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

// Which nodes must stay wide, and why: from what was measured of one dump.

struct NodeFinding {
  FitReason reason{};
  std::uint32_t value = network::kNoValue;
  std::uint32_t node = network::kNoNode;  // `feeds`: which cannot bear it
  double number = 0;
  double limit = 0;
};

// Errors of a result, relative and in u: up to the first, narrow devices are off where nothing is
// wrong; above the second they are borne only where next to nothing of them comes to an output.
inline constexpr double kFitLeast = 4;
inline constexpr double kFitTolerance = 8;

// Findings by node; those of a node from the first on.
std::map<std::uint32_t, std::vector<NodeFinding>> judge_nodes(const network::Network& network,
                                                              const Flow& flow, const Dump& dump,
                                                              const DumpMeasures& measures,
                                                              const NarrowType& type);

// Can the type of the node's numbers be chosen: are floats among its inputs or outputs?
bool is_fit_layer(const network::Network& network, const DumpMeasures& measures,
                  std::uint32_t node);

}  // namespace btf
