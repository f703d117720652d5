// Ranks layers by what their codes add to the error of the outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/fit.h"
#include "fit/dump_measures.h"
#include "network/network.h"

namespace btf {

// The gains of an elementwise operator for errors of the same size in every element, as those of
// integer codes are; measured by adding such errors. One for each of NodeMeasure::inputs; unset if
// the gain there is to be used.
using UniformGains = std::vector<std::optional<double>>;

// `relative`: the error of each value relative to its root mean square; 0 if it has none. All gains
// are unset if the node is not elementwise or cannot be computed.
UniformGains uniform_gains(const NodeContext& context, const std::vector<double>& relative,
                           std::uint32_t node, const NodeMeasure& measure);

// The gains of all nodes.
Result<std::vector<UniformGains>> uniform_gains(const network::Network& network, const Dump& dump,
                                                const NarrowType& type,
                                                const std::vector<double>& relative,
                                                const DumpMeasures& measures,
                                                const Execution& execution);

// Estimates by first-order propagation which error each layer alone, in a type of few codes, adds
// to the network's outputs.
class ScaledLayers {
 public:
  // `relative`: the error of each value with its scale, relative to its root mean square; 0 if it
  // is not known.
  ScaledLayers(const network::Network& network, std::vector<double> relative)
      : network_(network),
        relative_(std::move(relative)),
        errors_(network.nodes().size()),
        seen_(network.nodes().size()),
        judged_(network.nodes().size()),
        outputs_(network.outputs().size()) {}

  const std::vector<double>& relative() const { return relative_; }

  // Adds one dump: the gains of its nodes, and the number of terms in their sums. The errors are
  // the largest of all dumps.
  void take(const DumpMeasures& measures, const std::vector<double>& terms);

  void write(FitOfScales& found) const;

 private:
  class Reach;
  // Mean squares: the error of a value's codes, and the parts of such errors that reach an output.
  double noise(const DumpMeasures& measures, std::uint32_t value) const;
  double alone(const DumpMeasures& measures, std::uint32_t node, const Reach& reach) const;
  double together(const DumpMeasures& measures, const Reach& reach) const;

  const network::Network& network_;
  std::vector<double> relative_;  // by value
  std::vector<double> errors_;    // by node
  std::vector<bool> seen_;
  std::vector<bool> judged_;
  std::vector<double> outputs_;
};

// A node's name or, if it has none, that of its first output.
std::string layer_name(const network::Network& network, std::uint32_t node);

}  // namespace btf
