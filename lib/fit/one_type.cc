#include "fit/one_type.h"

#include <algorithm>
#include <map>
#include <string>

#include "btf/try.h"
#include "elements/parallel.h"
#include "fit/measure/dump_measures.h"
#include "fit/rule/judge.h"
#include "fit/rule/sensitivity.h"
#include "fit/scales/scaled_layers.h"

namespace btf {
namespace {

using network::kNoNode;
using network::kNoValue;
using network::Network;

FitTensor tensor_of(std::string name, const TensorMeasure& measure, const NarrowType& type) {
  return {.name = std::move(name),
          .elements = measure.elements,
          .nan = measure.nan,
          .infinite = measure.infinite,
          .largest = measure.largest,
          .smallest = measure.smallest,
          .rms = measure.rms(),
          .margin = measure.largest > 0 ? type.largest() / measure.largest : HUGE_VAL,
          .error = measure.error(),
          .beyond = measure.beyond,
          .lost = measure.lost};
}

FitOfType of_type(const NarrowType& type) {
  return {.dtype = type.dtype(),
          .largest = type.largest(),
          .smallest = type.smallest(),
          .unit_roundoff = type.unit_roundoff(),
          .tensors = {},
          .layers = {},
          .outputs = {}};
}

// All dumps together, for one type.
class Union {
 public:
  Union(const Network& network, const Flow& flow, const NarrowType& type)
      : network_(network), flow_(flow), type_(type) {}

  void take(const Dump& dump, const DumpMeasures& measures) {
    auto found = judge_nodes(network_, flow_, dump, measures, type_);
    if (values_.empty()) {
      values_.resize(network_.values().size());
      layers_.resize(network_.nodes().size());
    }
    for (std::uint32_t value = 0; value < values_.size(); ++value) {
      const ValueNoise& own = measures.values[value];
      if (!own.floating) continue;
      if (network_.values()[value].weight && values_[value].elements > 0) continue;
      values_[value].add(own.measure);
    }
    for (std::uint32_t node = 0; node < layers_.size(); ++node) {
      Layer& layer = layers_[node];
      if (!is_fit_layer(network_, measures, node)) continue;
      layer.there = true;
      const std::string& trouble = measures.nodes[node].trouble;
      layer.judged |= trouble.empty();
      if (layer.trouble.empty()) layer.trouble = trouble;
      for (const NodeFinding& finding : found[node]) add(layer, finding);
    }
    AssumedNodes nodes{std::vector<bool>(layers_.size()), std::vector<bool>(layers_.size())};
    for (const auto& [node, findings] : found) {
      if (gives_infinite(findings)) nodes.infinite[node] = true;
      for (const NodeFinding& finding : findings)
        // Its own findings tell, if there are any.
        if (finding.reason == FitReason::feeds && finding.limit == 0 &&
            found[finding.node].empty())
          nodes.infinite[finding.node] = true;
    }
    const std::vector<double> narrow = output_errors(network_, measures, type_, nodes);
    nodes.infinite.assign(layers_.size(), false);
    for (const auto& [node, findings] : found) nodes.wide[node] = !findings.empty();
    const std::vector<double> kept = output_errors(network_, measures, type_, nodes);
    outputs_.resize(narrow.size());
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      outputs_[i].narrow = std::max(outputs_[i].narrow, narrow[i]);
      outputs_[i].kept = std::max(outputs_[i].kept, kept[i]);
      outputs_[i].there |= measures.values[network_.outputs()[i]].floating;
    }
  }

  FitOfType result() const {
    FitOfType result = of_type(type_);
    for (std::uint32_t value = 0; value < values_.size(); ++value) {
      if (values_[value].elements == 0) continue;
      result.tensors.push_back(tensor_of(network_.values()[value].name, values_[value], type_));
      result.tensors.back().weight = network_.values()[value].weight.has_value();
    }
    for (std::uint32_t node = 0; node < layers_.size(); ++node)
      if (layers_[node].there) result.layers.push_back(layer_of(node));
    for (const FitLayer& layer : result.layers) {
      result.wide += layer.state == FitState::wide ? 1 : 0;
      result.unjudged += layer.state == FitState::unjudged ? 1 : 0;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].there)
        result.outputs.push_back({.name = network_.values()[network_.outputs()[i]].name,
                                  .narrow = outputs_[i].narrow,
                                  .kept = outputs_[i].kept});
    return result;
  }

 private:
  // Not what only comes near the end of the range.
  bool gives_infinite(const std::vector<NodeFinding>& findings) const {
    return std::ranges::any_of(findings, [&](const NodeFinding& finding) {
      const bool overflow = finding.reason == FitReason::overflow_output ||
                            finding.reason == FitReason::overflow_input ||
                            finding.reason == FitReason::overflow_inside;
      return finding.reason == FitReason::nonfinite ||
             (overflow && finding.number > type_.largest());
    });
  }

  struct Found {
    NodeFinding finding;
    std::uint64_t dumps = 0;
  };
  struct Layer {
    bool there = false;
    bool judged = false;
    std::string trouble{};
    std::vector<Found> found{};
  };
  struct Output {
    double narrow = 0;
    double kept = 0;
    bool there = false;
  };

  static void add(Layer& layer, const NodeFinding& finding) {
    for (Found& known : layer.found) {
      if (known.finding.reason != finding.reason || known.finding.value != finding.value) continue;
      ++known.dumps;
      known.finding.number = std::max(known.finding.number, finding.number);
      known.finding.limit = std::min(known.finding.limit, finding.limit);
      return;
    }
    layer.found.push_back({finding, 1});
  }

  FitLayer layer_of(std::uint32_t node) const {
    const Layer& own = layers_[node];
    const network::Node& made = network_.nodes()[node];
    FitLayer layer{.name = layer_name(network_, node),
                   .named = !made.name.empty(),
                   .op = made.op,
                   .outputs = {}};
    for (const std::uint32_t output : made.outputs)
      if (output != kNoValue) layer.outputs.push_back(network_.values()[output].name);
    for (const Found& found : own.found)
      layer.findings.push_back(
          {.reason = found.finding.reason,
           .tensor =
               found.finding.value == kNoValue ? "" : network_.values()[found.finding.value].name,
           .layer = found.finding.node == kNoNode ? "" : layer_name(network_, found.finding.node),
           .number = found.finding.number,
           .limit = found.finding.limit,
           .dumps = found.dumps});
    if (!own.found.empty()) {
      layer.state = FitState::wide;
    } else if (!own.judged) {
      layer.state = FitState::unjudged;
      layer.why = own.trouble;
    }
    return layer;
  }

  const Network& network_;
  const Flow& flow_;
  const NarrowType& type_;
  std::vector<TensorMeasure> values_;
  std::vector<Layer> layers_;
  std::vector<Output> outputs_;
};

}  // namespace

Result<FitOfType> measure_alone(const std::vector<Dump>& dumps, const NarrowType& type,
                                const KnownOfType& known, const Execution& execution,
                                FitReport& report) {
  std::vector<std::string> order;
  std::map<std::string, TensorMeasure> found;
  for (const Dump& dump : dumps)
    for (const DumpedTensor& tensor : dump.tensors()) {
      BTF_TRY(check_cancelled(execution));
      const auto measure = known.pieces != nullptr ? known.pieces->tensor(known.type, tensor)
                                                   : measure_dumped(dump, tensor, type);
      if (!measure) {
        report.troubles.push_back(measure.error().text());
        continue;
      }
      if (!*measure) continue;
      const auto [at, added] = found.emplace(tensor.name, **measure);
      added ? order.push_back(tensor.name) : at->second.add(**measure);
    }
  FitOfType result = of_type(type);
  for (const std::string& name : order)
    result.tensors.push_back(tensor_of(name, found.at(name), type));
  return result;
}

Result<FitOfType> judge_all(const Network& network, const std::vector<Dump>& dumps,
                            const NarrowType& type, const KnownOfType& known,
                            const Execution& execution) {
  const Flow flow(network);
  Union all(network, flow, type);
  std::optional<DumpMeasures> last;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    DumpMeasures measures;
    if (known.pieces != nullptr) {
      BTF_TRY(check_cancelled(execution));
      measures = measures_of(network, dumps[d], type, known.pieces->dump(known.type, d));
    } else {
      BTF_ASSIGN(measures,
                 measure_dump(network, dumps[d], type, last ? &*last : nullptr, execution));
    }
    all.take(dumps[d], measures);
    last = std::move(measures);
  }
  return all.result();
}

}  // namespace btf
