// Layers by what their codes add to the outputs: errors that are as large in every element,
// followed through the operators.
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

// How errors that are as large in every element, as those of integer codes are, come through
// operators of elements: found by adding such errors.

// By the effects of a node; nothing: its gain stays as it is.
using UniformGains = std::vector<std::optional<double>>;

// `relative`: the error of each value over its root mean square; 0: it has none. Of a node that is
// no operator of elements, or cannot be computed, all gains stay.
UniformGains uniform_gains(const NodeContext& context, const std::vector<double>& relative,
                           std::uint32_t node, const NodeMeasure& measure);

// The gains of all nodes.
Result<std::vector<UniformGains>> uniform_gains(const network::Network& network, const Dump& dump,
                                                const NarrowType& type,
                                                const std::vector<double>& relative,
                                                const DumpMeasures& measures,
                                                const Execution& execution);

// The error that each layer alone, in a type of few codes, adds to that of the network's outputs:
// an estimate by first-order propagation.

class ScaledLayers {
 public:
  // `relative`: the error of each value by its scales, over its root mean square; 0: none is known.
  ScaledLayers(const network::Network& network, std::vector<double> relative)
      : network_(network),
        relative_(std::move(relative)),
        errors_(network.nodes().size()),
        seen_(network.nodes().size()),
        judged_(network.nodes().size()),
        outputs_(network.outputs().size()) {}

  const std::vector<double>& relative() const { return relative_; }

  // Takes one dump: the gains of its nodes, and the terms of their sums. Several: the largest
  // errors.
  void take(const DumpMeasures& measures, const std::vector<double>& terms);

  void write(FitOfScales& found) const;

 private:
  class Reach;
  // Mean squares: of a value's codes; and what of such errors comes to an output.
  double noise(const DumpMeasures& measures, std::uint32_t value) const;
  double alone(const DumpMeasures& measures, std::uint32_t node, const Reach& reach) const;
  double together(const DumpMeasures& measures, const Reach& reach) const;

  const network::Network& network_;
  std::vector<double> relative_;  // of values
  std::vector<double> errors_;    // of nodes
  std::vector<bool> seen_;
  std::vector<bool> judged_;
  std::vector<double> outputs_;
};

// A node's name; without one, that of its first output.
std::string layer_name(const network::Network& network, std::uint32_t node);

}  // namespace btf
