#include "fit/scaled_layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "btf/try.h"
#include "fit/dump_measures.h"
#include "fit/judge.h"
#include "fit/node_measure.h"
#include "network/evaluation.h"
#include "network/operators/table.h"

namespace btf {
namespace {

using network::ErrorPropagation;
using network::kNoValue;

constexpr std::uint64_t kMaxSampledResults = 1U << 18;  // above this, runs are skipped

// Plus or minus one, depending on the index of an element.
double sign_at(std::uint64_t number) {
  return ((number + 1) * 0x9e3779b97f4a7c15 >> 37 & 1) != 0 ? 1 : -1;
}

class Places {
 public:
  Places(const NodeContext& context, const std::vector<double>& relative, std::uint32_t node,
         const NodeMeasure& measure)
      : context_(context),
        relative_(relative),
        measure_(measure),
        node_(node),
        evaluation_(context.network, stored_in(context.dump), kMaxTerms) {}

  Result<UniformGains> run() {
    UniformGains gains(measure_.inputs.size());
    BTF_ASSIGN(network::Operator* const op, evaluation_.made_operator(node_));
    if (!info(op->outputs()[0].dtype).floating()) return gains;
    BTF_TRY(open(*op));
    std::vector<double> exact(kFitRun);
    std::vector<double> off(kFitRun);
    const std::uint64_t all = element_count(op->outputs()[0].dims).value_or(0);
    const std::uint64_t step = std::max<std::uint64_t>(1, ceil_div(all, kMaxSampledResults));
    for (std::uint64_t first = 0; first < all; first += step * kFitRun) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, all - first));
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto run = std::span(inputs_[i].exact).first(count);
        BTF_TRY(inputs_[i].numbers->read(first, run));
        given_[i] = run;
      }
      op->at_places(given_, std::span(exact).first(count));
      for (const InputEffect& effect : measure_.inputs)
        if (error_of(effect) > 0)
          compare(*op, effect, first, std::span(exact).first(count), std::span(off).first(count));
    }
    for (std::size_t i = 0; i < gains.size(); ++i) {
      const InputEffect& effect = measure_.inputs[i];
      const auto& [squares, number] = sums_[effect.input];
      if (number > 0)
        gains[i] = std::sqrt(squares / static_cast<double>(number)) / error_of(effect);
    }
    return gains;
  }

 private:
  struct Input {
    std::unique_ptr<PlacedNumbers> numbers;
    std::vector<double> exact = std::vector<double>(kFitRun);
    std::vector<double> off = std::vector<double>(kFitRun);
  };

  std::uint32_t value(std::size_t input) const {
    return context_.network.nodes()[node_].inputs[input];
  }

  double error_of(const InputEffect& effect) const {
    const std::uint32_t which = value(effect.input);
    return relative_[which] * context_.values[which].measure.rms();
  }

  Status open(const network::Operator& op) {
    const std::vector<Dims> placed = op.places();
    inputs_.resize(placed.size());
    given_.resize(placed.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const std::uint32_t which = value(i);
      if (!opened_.contains(which)) {
        BTF_ASSIGN(std::optional<Numbers> found,
                   open_numbers(context_.network, context_.dump, which));
        if (!found) return fail(ErrorCode::refused, "the value was not dumped");
        opened_.emplace(which, *std::move(found));
      }
      inputs_[i].numbers =
          std::make_unique<PlacedNumbers>(opened_.at(which), placed[i], op.outputs()[0].dims);
    }
    return {};
  }

  // All inputs that are the same value get the same errors.
  void compare(const network::Operator& op, const InputEffect& effect, std::uint64_t first,
               std::span<const double> exact, std::span<double> off) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (value(i) != value(effect.input)) continue;
      for (std::size_t k = 0; k < exact.size(); ++k)
        inputs_[i].off[k] = inputs_[i].exact[k] + error_of(effect) * sign_at(first + k);
      given_[i] = std::span<const double>(inputs_[i].off).first(exact.size());
    }
    op.at_places(given_, off);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      given_[i] = std::span<const double>(inputs_[i].exact).first(exact.size());
    auto& [squares, number] = sums_[effect.input];
    for (std::size_t k = 0; k < exact.size(); ++k) {
      const double error = off[k] - exact[k];
      if (!std::isfinite(error)) continue;
      squares += error * error;
      ++number;
    }
  }

  const NodeContext& context_;
  const std::vector<double>& relative_;
  const NodeMeasure& measure_;
  std::uint32_t node_;
  network::Evaluation evaluation_;
  std::vector<Input> inputs_;
  std::vector<std::span<const double>> given_;
  std::map<std::uint32_t, Numbers> opened_;
  std::map<std::size_t, std::pair<double, std::uint64_t>> sums_;  // of squares, and their number
};

}  // namespace

UniformGains uniform_gains(const NodeContext& context, const std::vector<double>& relative,
                           std::uint32_t node, const NodeMeasure& measure) {
  const UniformGains none(measure.inputs.size());
  if (measure.passing != ErrorPropagation::places || !measure.trouble.empty()) return none;
  // Values that were measured can be opened again. If not, the gains stay unset; an error of
  // reading has been noted where it arose.
  const auto found = Places(context, relative, node, measure).run();
  return found ? *found : none;
}

Result<std::vector<UniformGains>> uniform_gains(const network::Network& network, const Dump& dump,
                                                const NarrowType& type,
                                                const std::vector<double>& relative,
                                                const DumpMeasures& measures,
                                                const Execution& execution) {
  const NodeContext context{network, dump, type, measures.values};
  std::vector<UniformGains> gains(measures.nodes.size());
  BTF_TRY(for_each_piece(execution, gains.size(), [&](std::uint64_t node) -> Status {
    gains[node] =
        uniform_gains(context, relative, static_cast<std::uint32_t>(node), measures.nodes[node]);
    return {};
  }));
  return gains;
}

namespace {

// Returns false for nodes that only move numbers, which have no type of their own.
bool computes(const NodeMeasure& measure) {
  return measure.passing != ErrorPropagation::moved && measure.passing != ErrorPropagation::joined;
}

double square(double x) { return x * x; }

}  // namespace

// The fraction of errors, as mean squares, that reaches one output of the network.
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
        // A mean does not reduce an error that is the same at all places, as one of weights is.
        const bool mean = measures_.nodes[node].passing == ErrorPropagation::windows;
        passed_[input] += (mean ? 1 : square(effect.gain)) * sum(node, passed_);
      }
    }
  }

  double from_value(std::uint32_t value) const { return fresh_[value]; }

  // The gain, up to the output, of an error of the codes that the node reads.
  double from_input(std::uint32_t node, const InputEffect& effect) const {
    return gain(node, effect) * sum(node, is_product(node, effect) ? passed_ : fresh_);
  }

 private:
  // A relative error of an input is taken to be the same relative error of the results.
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
  std::vector<double> fresh_;   // by value: for errors without a pattern
  std::vector<double> passed_;  // by value: for errors of products, which follow the numbers
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

// The error of each value's codes counts once: at its node or, for inputs and weights, where it is
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
