#include "fit/scales/scaled_layers.h"

#include <algorithm>
#include <cmath>

#include "fit/measure/node_measure.h"
#include "fit/rule/judge.h"

namespace btf {
namespace {

using network::kNoValue;
using network::Passing;

// What only moves numbers computes nothing in a type.
bool computes(const NodeMeasure& measure) {
  return measure.passing != Passing::moved && measure.passing != Passing::joined;
}

double square(double x) { return x * x; }

}  // namespace

// How much of errors, as mean squares, comes to an output of the network.
class ScaledLayers::Reach {
 public:
  Reach(const ScaledLayers& layers, const DumpMeasures& measures, const std::vector<double>& terms,
        std::uint32_t output)
      : layers_(layers),
        measures_(measures),
        terms_(terms),
        fresh_(layers.network_.values().size(), 0),
        passed_(layers.network_.values().size(), 0) {
    fresh_[output] = passed_[output] = 1;
    for (std::size_t i = layers_.network_.nodes().size(); i-- > 0;) {
      const auto node = static_cast<std::uint32_t>(i);
      if (!measures_.nodes[node].trouble.empty()) through_unknown(node);
      for (const InputEffect& effect : measures_.nodes[node].inputs) {
        const std::uint32_t input = layers_.network_.nodes()[node].inputs[effect.input];
        fresh_[input] += from_input(node, effect);
        // A mean leaves what is the same at all places, as what weights are off by is.
        const bool mean = measures_.nodes[node].passing == Passing::windows;
        passed_[input] += (mean ? 1 : square(effect.gain)) * sum(node, passed_);
      }
    }
  }

  double from_value(std::uint32_t value) const { return fresh_[value]; }

  // The node's gain of an error of the codes that it reads.
  double from_input(std::uint32_t node, const InputEffect& effect) const {
    return gain(node, effect) * sum(node, is_product(node, effect) ? passed_ : fresh_);
  }

 private:
  // An error of an input is taken for the same part of the results.
  void through_unknown(std::uint32_t node) {
    const network::Node& own = layers_.network_.nodes()[node];
    const auto mean_square = [&](std::uint32_t value) {
      return value == kNoValue ? 0 : measures_.values[value].measure.mean_square();
    };
    for (const std::uint32_t input : own.inputs) {
      if (mean_square(input) == 0) continue;
      for (const std::uint32_t made : own.outputs) {
        if (mean_square(made) == 0) continue;
        fresh_[input] += mean_square(made) / mean_square(input) * fresh_[made];
        passed_[input] += mean_square(made) / mean_square(input) * passed_[made];
      }
    }
  }

  bool is_product(std::uint32_t node, const InputEffect& effect) const {
    return terms_[node] > 0 && multiplies(layers_.network_.nodes()[node], effect.input);
  }

  double gain(std::uint32_t node, const InputEffect& effect) const {
    if (!is_product(node, effect)) return square(effect.gain);
    const network::Node& own = layers_.network_.nodes()[node];
    return terms_[node] * square(other_factors(measures_.values, own, effect.input));
  }

  double sum(std::uint32_t node, const std::vector<double>& of_values) const {
    double all = 0;
    for (const std::uint32_t made : layers_.network_.nodes()[node].outputs)
      if (made != kNoValue) all += of_values[made];
    return all;
  }

  const ScaledLayers& layers_;
  const DumpMeasures& measures_;
  const std::vector<double>& terms_;
  std::vector<double> fresh_;   // of values: of errors that have no pattern
  std::vector<double> passed_;  // of those that products made, which go with the numbers
};

double ScaledLayers::noise(const DumpMeasures& measures, std::uint32_t value) const {
  return square(relative_[value]) * measures.values[value].measure.mean_square();
}

double ScaledLayers::alone(const DumpMeasures& measures, std::uint32_t node,
                           const Reach& reach) const {
  const network::Node& own = network_.nodes()[node];
  double squares = 0;
  for (const InputEffect& effect : measures.nodes[node].inputs)
    squares += noise(measures, own.inputs[effect.input]) * reach.from_input(node, effect);
  for (const std::uint32_t made : own.outputs)
    if (made != kNoValue) squares += noise(measures, made) * reach.from_value(made);
  return squares;
}

// Each value has its codes' error once: where it is made or, of what nothing makes, where it is
// read.
double ScaledLayers::together(const DumpMeasures& measures, const Reach& reach) const {
  double squares = 0;
  for (std::uint32_t value = 0; value < relative_.size(); ++value) {
    const std::uint32_t node = network_.values()[value].node;
    if (node == network::kNoNode || computes(measures.nodes[node]))
      squares += noise(measures, value) * reach.from_value(value);
  }
  return squares;
}

void ScaledLayers::take(const DumpMeasures& measures, const std::vector<double>& terms) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < network_.nodes().size(); ++node) {
    if (!is_fit_layer(network_, measures, node) || !computes(measures.nodes[node])) continue;
    seen_[node] = true;
    if (!measures.nodes[node].trouble.empty()) continue;
    judged_[node] = true;
    nodes.push_back(node);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::uint32_t output = network_.outputs()[i];
    const double rms = measures.values[output].measure.rms();
    if (rms == 0) continue;
    const Reach reach(*this, measures, terms, output);
    outputs_[i] = std::max(outputs_[i], std::sqrt(together(measures, reach)) / rms);
    for (const std::uint32_t node : nodes)
      errors_[node] = std::max(errors_[node], std::sqrt(alone(measures, node, reach)) / rms);
  }
}

void ScaledLayers::write(FitOfScales& found) const {
  double squares = 0;
  for (std::uint32_t node = 0; node < errors_.size(); ++node) {
    found.unjudged += seen_[node] && !judged_[node] ? 1 : 0;
    if (!judged_[node]) continue;
    squares += errors_[node] * errors_[node];
    found.layers.push_back({.name = layer_name(network_, node),
                            .op = network_.nodes()[node].op,
                            .error = errors_[node]});
  }
  for (FitScaledLayer& layer : found.layers)
    if (squares > 0) layer.share = layer.error * layer.error / squares;
  std::ranges::stable_sort(found.layers, std::ranges::greater{}, &FitScaledLayer::error);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    found.outputs.push_back(
        {.name = network_.values()[network_.outputs()[i]].name, .error = outputs_[i]});
}

std::string layer_name(const network::Network& network, std::uint32_t node) {
  const network::Node& own = network.nodes()[node];
  if (!own.name.empty()) return own.name;
  for (const std::uint32_t output : own.outputs)
    if (output != kNoValue) return network.values()[output].name;
  return own.op + " " + std::to_string(node);
}

}  // namespace btf
