// Which nodes must stay wide, and why: from what was measured of one dump.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "btf/fit.h"
#include "fit/measure/dump_measures.h"
#include "fit/measure/narrow_type.h"
#include "fit/rule/flow.h"
#include "network/network.h"

namespace btf {

struct NodeFinding {
  FitReason reason{};
  std::uint32_t value = network::kNoValue;
  std::uint32_t node = network::kNoNode;  // `feeds`: which cannot bear it
  double number = 0;
  double limit = 0;
};

// An error of a result, relative, that is no more than this many u is none to speak of: narrow
// devices are off by as much where nothing is wrong.
inline constexpr double kFitTolerance = 8;

// Findings by node; those of a node from the first on.
std::map<std::uint32_t, std::vector<NodeFinding>> judge_nodes(const network::Network& network,
                                                              const Flow& flow,
                                                              const DumpMeasures& measures,
                                                              const NarrowType& type);

// Can the type of the node's numbers be chosen: are floats among its inputs or outputs?
bool is_fit_layer(const network::Network& network, const DumpMeasures& measures,
                  std::uint32_t node);

// The relative error of each output of the network, by first-order propagation, with these nodes
// wide.
std::vector<double> output_errors(const network::Network& network, const DumpMeasures& measures,
                                  const std::vector<bool>& wide);

}  // namespace btf
