// What each layer alone, in a type of few codes, adds to the error of the network's outputs: an
// estimate by first-order propagation.
#pragma once

#include <string>
#include <vector>

#include "btf/fit/scales.h"
#include "fit/measure/dump_measures.h"
#include "network/network.h"

namespace btf {

class ScaledLayers {
 public:
  // `uniform`: codes whose errors are as large in every element, until products of them are summed;
  // those of others go with the numbers.
  // `relative`: the error of each value by its scales, over its root mean square; 0: none is known.
  ScaledLayers(const network::Network& network, bool uniform, std::vector<double> relative)
      : network_(network),
        uniform_(uniform),
        relative_(std::move(relative)),
        errors_(network.nodes().size()),
        seen_(network.nodes().size()),
        judged_(network.nodes().size()),
        outputs_(network.outputs().size()) {}

  // Of one dump: its gains, by a type with the range of float32, and the terms of each node's sums.
  // Several: the largest errors.
  void take(const DumpMeasures& measures, const std::vector<double>& terms);

  void write(FitOfScales& found) const;

 private:
  class Reach;
  // Mean squares: of a value's codes; and what of such errors comes to an output.
  double noise(const DumpMeasures& measures, std::uint32_t value) const;
  double alone(const DumpMeasures& measures, std::uint32_t node, const Reach& reach) const;
  double together(const DumpMeasures& measures, const Reach& reach) const;

  const network::Network& network_;
  bool uniform_;
  std::vector<double> relative_;  // of values
  std::vector<double> errors_;    // of nodes
  std::vector<bool> seen_;
  std::vector<bool> judged_;
  std::vector<double> outputs_;
};

// Products in one sum of each node's result; 0: it is none of that kind, or not known.
std::vector<double> terms_of(const network::Network& network, const Dump& dump,
                             const DumpMeasures& measures);

// A node's name; without one, that of its first output.
std::string layer_name(const network::Network& network, std::uint32_t node);

}  // namespace btf
