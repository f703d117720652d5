#include "fit/scales/scaled_layers.h"

#include <algorithm>
#include <cmath>

#include "fit/rule/judge.h"

namespace btf {
namespace {

using network::kNoValue;
using network::Passing;

// What only moves numbers computes nothing in a type.
bool computes(const NodeMeasure& measure) {
  return measure.passing != Passing::moved && measure.passing != Passing::joined;
}

// The measures with the errors of codes in place of those that rounding made.
void exchange_errors(const network::Network& network, const std::vector<double>& relative,
                     DumpMeasures& measures) {
  for (std::size_t value = 0; value < measures.values.size(); ++value) {
    ValueNoise& own = measures.values[value];
    own.noise = relative[value] * own.measure.rms();
    own.measure.beyond = 0;
  }
  for (std::uint32_t node = 0; node < measures.nodes.size(); ++node) {
    measures.nodes[node].variance_error = 0;
    for (InputEffect& effect : measures.nodes[node].inputs) {
      effect.noise = measures.values[network.nodes()[node].inputs[effect.input]].noise;
      effect.error = effect.noise * effect.gain;
      effect.nonfinite = 0;
    }
  }
}

// How much of a value's error, as a mean square, is an error of this output.
std::vector<double> sensitivity_of(const network::Network& network, const DumpMeasures& measures,
                                   std::uint32_t output) {
  std::vector<double> found(network.values().size(), 0);
  found[output] = 1;
  for (std::size_t node = network.nodes().size(); node-- > 0;) {
    double own = 0;
    for (const std::uint32_t made : network.nodes()[node].outputs)
      if (made != kNoValue) own += found[made];
    if (own == 0) continue;
    for (const InputEffect& effect : measures.nodes[node].inputs)
      found[network.nodes()[node].inputs[effect.input]] += effect.gain * effect.gain * own;
  }
  return found;
}

}  // namespace

double ScaledLayers::alone(const DumpMeasures& measures, std::uint32_t node,
                           const std::vector<double>& sensitivity) const {
  double read = 0;
  for (const InputEffect& effect : measures.nodes[node].inputs) read += effect.error * effect.error;
  double squares = 0;
  for (const std::uint32_t made : network_.nodes()[node].outputs) {
    if (made == kNoValue || !measures.values[made].floating || sensitivity[made] == 0) continue;
    const double own = measures.values[made].noise;
    squares += sensitivity[made] * (read + own * own);
  }
  return squares;
}

void ScaledLayers::take(DumpMeasures measures) {
  exchange_errors(network_, relative_, measures);
  const std::vector<double> all =
      output_errors(network_, measures, std::vector<bool>(network_.nodes().size(), false));
  for (std::size_t i = 0; i < all.size(); ++i) outputs_[i] = std::max(outputs_[i], all[i]);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < network_.nodes().size(); ++node) {
    if (!is_fit_layer(network_, measures, node) || !computes(measures.nodes[node])) continue;
    seen_[node] = true;
    if (!measures.nodes[node].trouble.empty()) continue;
    judged_[node] = true;
    nodes.push_back(node);
  }
  for (const std::uint32_t output : network_.outputs()) {
    const double rms = measures.values[output].measure.rms();
    if (rms == 0) continue;
    const std::vector<double> sensitivity = sensitivity_of(network_, measures, output);
    for (const std::uint32_t node : nodes)
      errors_[node] = std::max(errors_[node], std::sqrt(alone(measures, node, sensitivity)) / rms);
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
