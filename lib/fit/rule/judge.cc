#include "fit/rule/judge.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace btf {
namespace {

using network::kNoNode;
using network::kNoValue;
using network::Passing;

class Judge {
 public:
  Judge(const network::Network& network, const Flow& flow, const DumpMeasures& measures,
        const NarrowType& type)
      : network_(network),
        flow_(flow),
        measures_(measures),
        type_(type),
        bearable_(kFitTolerance * type.unit_roundoff()),
        absorbed_(network.values().size()) {}

  std::map<std::uint32_t, std::vector<NodeFinding>> run() {
    for (std::uint32_t node = 0; node < network_.nodes().size(); ++node) {
      if (!flow_.is_live(node) || !is_fit_layer(network_, measures_, node)) continue;
      overflows(node);
      inside(node);
      inputs(node);
      outputs(node);
    }
    return std::move(findings_);
  }

 private:
  struct Walk {
    double allowed = 0;      // error of the value
    bool nonfinite = false;  // zeros and Infs are what cannot be borne
    int depth = 0;           // nodes on the way
  };

  struct Walked {
    double allowed = HUGE_VAL;  // the least so far
    bool nonfinite = false;
  };

  const NodeMeasure& measure(std::uint32_t node) const { return measures_.nodes[node]; }
  const ValueNoise& value(std::uint32_t value) const { return measures_.values[value]; }
  bool is_above(std::uint32_t which) const {
    return value(which).floating && value(which).measure.above > 0;
  }

  const InputEffect* effect(std::uint32_t node, std::size_t input) const {
    const std::uint32_t which = network_.nodes()[node].inputs[input];
    for (const InputEffect& effect : measure(node).inputs)
      if (effect.input == input || network_.nodes()[node].inputs[effect.input] == which)
        return &effect;
    return nullptr;
  }

  // Of the node's result, and relative to it.
  double bearable(std::uint32_t node) const { return bearable_ * measure(node).rms; }
  double relative(std::uint32_t node, double error) const {
    return measure(node).rms > 0 ? error / measure(node).rms : error > 0 ? HUGE_VAL : 0;
  }

  bool known(std::uint32_t node) const {
    return measure(node).trouble.empty() && measure(node).passing != Passing::unknown;
  }

  // Numbers above the limit do no harm where all that read them take Inf as well.
  bool absorbed(std::uint32_t which) {
    if (absorbed_[which]) return *absorbed_[which];
    absorbed_[which] = false;
    const bool all = !flow_.is_output(which) &&
                     std::ranges::all_of(flow_.readers(which), [&](const FlowReader& reader) {
                       return takes_inf(reader);
                     });
    absorbed_[which] = all;
    return all;
  }

  bool takes_inf(const FlowReader& reader) {
    if (!flow_.is_live(reader.node)) return true;
    if (!known(reader.node)) return false;
    const InputEffect* const found = effect(reader.node, reader.input);
    // It is no number of the result: a limit of Clip, an index.
    if (found == nullptr) return measure(reader.node).passing != Passing::products;
    const auto& outputs = network_.nodes()[reader.node].outputs;
    const bool passed = std::ranges::all_of(outputs, [&](std::uint32_t output) {
      return output == kNoValue || !is_above(output) || absorbed(output);
    });
    if (found->passes_on) return passed;
    if (measure(reader.node).passing == Passing::products) return false;
    return found->nonfinite == 0 && found->error <= bearable(reader.node) && passed;
  }

  void add(std::uint32_t node, const NodeFinding& finding) {
    std::vector<NodeFinding>& list = findings_[node];
    for (const NodeFinding& known : list)
      if (known.reason == finding.reason && known.value == finding.value) return;
    list.push_back(finding);
  }

  void overflows(std::uint32_t node) {
    const network::Node& own = network_.nodes()[node];
    for (const std::uint32_t output : own.outputs)
      if (output != kNoValue && is_above(output) && !absorbed(output))
        add(node, {FitReason::overflow_output, output, kNoNode, value(output).measure.largest,
                   type_.limit()});
    for (std::size_t i = 0; i < own.inputs.size(); ++i) {
      const std::uint32_t input = own.inputs[i];
      if (input == kNoValue || !is_above(input)) continue;
      if (takes_inf({node, i})) continue;
      const InputEffect* const found = effect(node, i);
      if (found != nullptr && found->nonfinite > 0 && found->nan == 0 && is_above(own.outputs[0]) &&
          absorbed(own.outputs[0]))
        continue;
      const bool harmless = found != nullptr && !found->passes_on && known(node) &&
                            measure(node).passing != Passing::products && found->nonfinite == 0 &&
                            found->error <= bearable(node);
      if (harmless || (found != nullptr && found->passes_on)) continue;  // its output is the reason
      add(node,
          {FitReason::overflow_input, input, kNoNode, value(input).measure.largest, type_.limit()});
    }
  }

  void inside(std::uint32_t node) {
    const std::uint32_t output = network_.nodes()[node].outputs[0];
    if (measure(node).inside > type_.limit())
      add(node, {FitReason::overflow_inside, output, kNoNode, measure(node).inside, type_.limit()});
    if (measure(node).variance_error > bearable_ &&
        spreads_from(node, measure(node).variance_error * measure(node).rms))
      add(node, {FitReason::variance, output, kNoNode, measure(node).variance_error, bearable_});
  }

  void inputs(std::uint32_t node) {
    double most = 0;
    for (const InputEffect& effect : measure(node).inputs)
      if (!effect.passes_on && effect.nonfinite == 0) most = std::max(most, effect.error);
    const bool off = most > bearable(node) && spreads_from(node, most);
    for (const InputEffect& effect : measure(node).inputs) {
      if (effect.passes_on) continue;  // whoever reads it tells
      const std::uint32_t input = network_.nodes()[node].inputs[effect.input];
      const bool above = is_above(input);
      if (effect.nonfinite > 0) {
        // Inf in place of a number that is near it does no harm where Inf does none.
        const std::uint32_t output = network_.nodes()[node].outputs[0];
        if (above && effect.nan == 0 && is_above(output) && absorbed(output)) continue;
        if (!above)
          add(node,
              {FitReason::nonfinite, input, kNoNode, static_cast<double>(effect.nonfinite), 0});
        walk(input, node, {.allowed = 0, .nonfinite = true});
        if (effect.gain > 0) walk(input, node, {.allowed = bearable(node) / effect.gain});
        continue;
      }
      if (!off || above || effect.error <= bearable(node)) continue;
      const bool lost = value(input).measure.error() > bearable_;
      add(node, {lost ? FitReason::lost : FitReason::rounding, input, kNoNode,
                 relative(node, effect.error), bearable_});
      walk(input, node, {.allowed = bearable(node) / effect.gain});
    }
  }

  // What vanishes in an output of the network.
  void outputs(std::uint32_t node) {
    for (const std::uint32_t output : network_.nodes()[node].outputs) {
      if (output == kNoValue || !flow_.is_output(output)) continue;
      const ValueNoise& own = value(output);
      if (!own.floating || own.measure.error() <= bearable_) continue;
      add(node, {FitReason::lost, output, kNoNode, own.measure.error(), bearable_});
      walk(output, node, {.allowed = bearable_ * own.measure.rms()});
    }
  }

  // Whoever rounds the value must stay wide, too, and whoever rounds what that is computed from by
  // more than what is allowed.
  void walk(std::uint32_t which, std::uint32_t for_node, const Walk& walk) {
    const std::uint32_t node = network_.values()[which].node;
    if (node == kNoNode || network_.values()[which].weight || !value(which).floating) return;
    Walked& before = walked_[node];
    if (walk.nonfinite ? before.nonfinite : before.allowed <= walk.allowed) return;
    if (walk.nonfinite)
      before.nonfinite = true;
    else
      before.allowed = walk.allowed;
    const double rms = value(which).measure.rms();
    if (node != for_node)
      add(node, {FitReason::feeds, which, for_node, value(which).relative(),
                 rms > 0 ? walk.allowed / rms : 0});
    if (!known(node)) return;
    for (const InputEffect& effect : measure(node).inputs) {
      const std::uint32_t input = network_.nodes()[node].inputs[effect.input];
      const bool changes = effect.nonfinite > 0 || effect.zeroed > 0 ||
                           (effect.passes_on && (value(input).measure.lost > 0 || is_above(input)));
      if (walk.nonfinite) {
        // What becomes zero farther back is ordinary: activations do.
        constexpr int kDepth = 3;
        if (changes && walk.depth < kDepth)
          this->walk(input, for_node, {.allowed = 0, .nonfinite = true, .depth = walk.depth + 1});
      } else if (effect.error > walk.allowed || (effect.nonfinite > 0 && effect.gain > 0)) {
        this->walk(input, for_node, {.allowed = walk.allowed / effect.gain});
      }
    }
  }

  // Is an error of the node's result still one to speak of a few layers on?
  bool spreads_from(std::uint32_t node, double error) const {
    constexpr int kDepth = 4;
    return std::ranges::any_of(network_.nodes()[node].outputs, [&](std::uint32_t output) {
      return output != kNoValue && spreads(output, error, kDepth);
    });
  }

  bool spreads(std::uint32_t which, double error, int depth) const {
    if (error == 0 || error <= bearable_ / 2 * value(which).measure.rms()) return false;
    if (flow_.is_output(which) || depth == 0) return true;
    return std::ranges::any_of(flow_.readers(which), [&](const FlowReader& reader) {
      if (!flow_.is_live(reader.node)) return false;
      double gain = 1;
      if (known(reader.node)) {
        const InputEffect* const found = effect(reader.node, reader.input);
        if (found == nullptr) return false;
        gain = found->gain;
      }
      return std::ranges::any_of(network_.nodes()[reader.node].outputs, [&](std::uint32_t output) {
        return output != kNoValue && spreads(output, error * gain, depth - 1);
      });
    });
  }

  const network::Network& network_;
  const Flow& flow_;
  const DumpMeasures& measures_;
  const NarrowType& type_;
  double bearable_;
  std::vector<std::optional<bool>> absorbed_;
  std::map<std::uint32_t, Walked> walked_;
  std::map<std::uint32_t, std::vector<NodeFinding>> findings_;
};

}  // namespace

bool is_fit_layer(const network::Network& network, const DumpMeasures& measures,
                  std::uint32_t node) {
  const NodeMeasure& measure = measures.nodes[node];
  if (measure.trouble.empty() && measure.passing == Passing::none) return false;
  const network::Node& own = network.nodes()[node];
  const auto floating = [&](std::uint32_t value) {
    return value != kNoValue && measures.values[value].floating;
  };
  return std::ranges::any_of(own.inputs, floating) || std::ranges::any_of(own.outputs, floating);
}

std::map<std::uint32_t, std::vector<NodeFinding>> judge_nodes(const network::Network& network,
                                                              const Flow& flow,
                                                              const DumpMeasures& measures,
                                                              const NarrowType& type) {
  return Judge(network, flow, measures, type).run();
}

std::vector<double> output_errors(const network::Network& network, const DumpMeasures& measures,
                                  const std::vector<bool>& wide) {
  std::vector<double> errors(network.values().size(), 0);  // mean squares
  std::vector<bool> rounded(network.values().size(), false);
  for (std::uint32_t node = 0; node < network.nodes().size(); ++node) {
    const network::Node& own = network.nodes()[node];
    const NodeMeasure& measure = measures.nodes[node];
    double carried = 0;
    for (const InputEffect& effect : measure.inputs) {
      const std::uint32_t input = own.inputs[effect.input];
      const double read = wide[node] || rounded[input] ? 0 : effect.error * effect.error;
      if (!wide[node] && effect.nonfinite > 0) carried = HUGE_VAL;
      carried += (errors[input] > 0 ? effect.gain * effect.gain * errors[input] : 0) + read;
    }
    if (!wide[node]) {
      const double off = measure.variance_error / 2 * measure.rms;
      carried += off * off;
    }
    for (const std::uint32_t output : own.outputs) {
      if (output == kNoValue || !measures.values[output].floating) continue;
      const double noise = measures.values[output].noise;
      const bool rounds = !wide[node] && measure.passing != Passing::moved;
      errors[output] = carried + (rounds ? noise * noise : 0);
      if (!wide[node] && measures.values[output].measure.beyond > 0) errors[output] = HUGE_VAL;
      rounded[output] = !wide[node];
    }
  }
  std::vector<double> found;
  for (const std::uint32_t output : network.outputs()) {
    const double rms = measures.values[output].measure.rms();
    found.push_back(rms > 0 ? std::sqrt(errors[output]) / rms : 0);
  }
  return found;
}

}  // namespace btf
