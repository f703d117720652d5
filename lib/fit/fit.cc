#include "btf/fit.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "btf/try.h"
#include "fit/measure/dump_measures.h"
#include "fit/rule/judge.h"
#include "fit/rule/sensitivity.h"
#include "fit/scales/scaled_layers.h"
#include "fit/scales/scaled_types.h"

namespace btf {
namespace {

using network::kNoNode;
using network::kNoValue;
using network::Network;

constexpr auto kReasonNames = std::to_array<Named<FitReason>>({
    {FitReason::overflow_output, "overflow-output"},
    {FitReason::overflow_input, "overflow-input"},
    {FitReason::overflow_inside, "overflow-inside"},
    {FitReason::variance, "variance"},
    {FitReason::nonfinite, "nonfinite"},
    {FitReason::lost, "lost"},
    {FitReason::rounding, "rounding"},
    {FitReason::feeds, "feeds"},
});

constexpr auto kStateNames = std::to_array<Named<FitState>>({
    {FitState::narrow, "narrow"},
    {FitState::wide, "wide"},
    {FitState::unjudged, "unjudged"},
});

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

// Without a network: tensors of the same name in several dumps are one.
Result<FitOfType> measure_alone(const std::vector<Dump>& dumps, const NarrowType& type,
                                const Execution& execution, FitReport& report) {
  std::vector<std::string> order;
  std::map<std::string, TensorMeasure> found;
  for (const Dump& dump : dumps)
    for (const DumpedTensor& tensor : dump.tensors()) {
      if (execution.cancel != nullptr && *execution.cancel)
        return fail(ErrorCode::cancelled, "cancelled");
      const auto measure = measure_dumped(dump, tensor, type);
      if (!measure) {
        report.troubles.push_back("'" + tensor.name + "': " + measure.error().text());
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

// All dumps together, for one type.
class Union {
 public:
  Union(const Network& network, const Flow& flow, const NarrowType& type)
      : network_(network), flow_(flow), type_(type) {}

  void take(const DumpMeasures& measures) {
    auto found = judge_nodes(network_, flow_, measures, type_);
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
    for (const auto& [node, findings] : found) nodes.infinite[node] = gives_infinite(findings);
    const std::vector<double> narrow = output_errors(network_, measures, type_, nodes);
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

Result<FitOfType> judge_all(const Network& network, const std::vector<Dump>& dumps,
                            const NarrowType& type, const Execution& execution) {
  const Flow flow(network);
  Union all(network, flow, type);
  std::optional<DumpMeasures> last;
  for (const Dump& dump : dumps) {
    BTF_ASSIGN(DumpMeasures measures,
               measure_dump(network, dump, type, last ? &*last : nullptr, execution));
    all.take(measures);
    last = std::move(measures);
  }
  return all.result();
}

// What of the dumps is no float, is narrow already, or is not in the graph.
Status look_at_dumps(const std::vector<Dump>& dumps, std::span<TensorSet> sets, bool graph,
                     FitReport& report) {
  std::uint64_t floats = 0;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    std::uint64_t narrow = 0;
    std::string first;
    for (const DumpedTensor& tensor : dumps[d].tensors()) {
      BTF_ASSIGN(const auto file, sets[d].file(tensor.place.member));
      const auto read = file->tensor(tensor.place.index);
      if (!read || !read->dtype) continue;
      const DTypeInfo& dtype = info(*read->dtype);
      if (!dtype.floating()) {
        ++report.integers;
        continue;
      }
      ++floats;
      if (dtype.bits < 32 && narrow++ == 0) first = tensor.name + "' is " + std::string(dtype.name);
      if (graph && tensor.value == kNoValue &&
          std::ranges::find(report.unused, tensor.name) == report.unused.end())
        report.unused.push_back(tensor.name);
    }
    if (narrow > 0)
      report.warnings.push_back(
          sets[d].path() + ": '" + first + (narrow > 1 ? ", and others are narrow too" : "") +
          ": what its numbers lost before does not show; dump a run in float32");
  }
  if (floats == 0 && !report.troubles.empty()) return fail(ErrorCode::io, report.troubles.front());
  if (floats == 0)
    return fail(ErrorCode::refused, "no tensor of " + sets[0].path() + " holds floats");
  if (graph && report.unused.size() == floats)
    return fail(ErrorCode::refused, "no tensor of " + sets[0].path() + " is in the graph: '" +
                                        report.unused.front() + "' is not");
  return {};
}

template <typename Tensor>
void warn_of_nonfinite(const std::vector<Tensor>& tensors, std::vector<std::string>& warnings) {
  for (const Tensor& tensor : tensors) {
    if (tensor.weight || tensor.nan + tensor.infinite == 0) continue;
    const bool all = tensor.nan + tensor.infinite == tensor.elements;
    warnings.push_back("'" + tensor.name + "' has " + std::to_string(tensor.nan) + " NaN and " +
                       std::to_string(tensor.infinite) + " Inf as dumped" +
                       (all ? " and nothing else" : "") + "; they are left out");
  }
}

Status measure_scaled(const Network* network, const std::vector<Dump>& dumps,
                      std::span<const DType> dtypes, const FitOptions& options, FitReport& report) {
  BTF_ASSIGN(ScalesFound found, fit_scales(network, dumps, dtypes, options.execution));
  // What cannot be read has been said once, where there is another type.
  if (report.types.empty() || network != nullptr)
    std::ranges::move(found.troubles, std::back_inserter(report.troubles));
  std::ranges::move(found.warnings, std::back_inserter(report.warnings));
  if (report.types.empty()) warn_of_nonfinite(found.types[0].tensors, report.warnings);
  report.scaled = std::move(found.types);
  return {};
}

}  // namespace

Result<FitReport> fit(std::span<TensorSet> dumps, const FitOptions& options) {
  if (dumps.empty() || options.dtypes.empty())
    return fail(ErrorCode::invalid_argument, "there is no dump, or no dtype");
  for (const DType dtype : options.dtypes)
    if (dtype != DType::float16 && dtype != DType::bfloat16 && !fits_by_scale(dtype))
      return fail(ErrorCode::unsupported,
                  std::string(info(dtype).name) +
                      " is not judged: float16, bfloat16 and signed types of 8 bits or fewer are");
  FitReport report;
  report.graph = options.graph;
  std::optional<Network> network;
  if (options.graph) {
    BTF_ASSIGN(network, Network::read(*options.graph));
    if (network->nodes().empty())
      return std::unexpected(
          Error{ErrorCode::refused, "it has no graph with nodes"}.in_file(*options.graph));
  }
  std::vector<Dump> listed;
  for (TensorSet& set : dumps) {
    report.dumps.push_back(set.path());
    BTF_ASSIGN(Dump dump, Dump::list(set, network ? &*network : nullptr, report.troubles));
    listed.push_back(std::move(dump));
  }
  BTF_TRY(look_at_dumps(listed, dumps, network.has_value(), report));
  std::vector<DType> scaled;
  for (const DType dtype : options.dtypes) {
    if (fits_by_scale(dtype)) {
      scaled.push_back(dtype);
      continue;
    }
    const NarrowType type(dtype);
    BTF_ASSIGN(FitOfType found, network ? judge_all(*network, listed, type, options.execution)
                                        : measure_alone(listed, type, options.execution, report));
    if (found.unjudged > 0 && found.unjudged == found.layers.size())
      return fail(ErrorCode::refused, "no layer can be judged, as '" + found.layers[0].name +
                                          "': " + found.layers[0].why);
    if (report.types.empty()) warn_of_nonfinite(found.tensors, report.warnings);
    report.types.push_back(std::move(found));
  }
  if (!scaled.empty())
    BTF_TRY(measure_scaled(network ? &*network : nullptr, listed, scaled, options, report));
  for (const TensorSet& set : dumps) BTF_TRY(set.check_unchanged());
  return report;
}

bool fits(const FitReport& report) {
  const auto holds = [](const FitScaledTensor& tensor) {
    return tensor.state == FitScaling::held || tensor.state == FitScaling::nothing;
  };
  for (const FitOfScales& type : report.scaled)
    if (!std::ranges::all_of(type.tensors, holds)) return false;
  return std::ranges::all_of(report.types, [](const FitOfType& type) {
    if (!type.layers.empty()) return type.wide == 0;
    return std::ranges::all_of(type.tensors, [&](const FitTensor& tensor) {
      return tensor.beyond == 0 && tensor.error <= kFitTolerance * type.unit_roundoff;
    });
  });
}

namespace {

template <typename T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& names, T value) {
  return std::ranges::find(names, value, &Named<T>::value)->name;
}

}  // namespace

std::string_view fit_reason_name(FitReason reason) { return name_in(kReasonNames, reason); }
std::string_view fit_state_name(FitState state) { return name_in(kStateNames, state); }

}  // namespace btf
