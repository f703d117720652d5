// fit(): judges which layers fit a narrow type, from dumps and the graph.
#include "btf/fit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "elements/cast.h"
#include "fit/dump_measures.h"
#include "fit/items.h"
#include "fit/judge.h"
#include "fit/node_measure.h"
#include "fit/scaled_layers.h"
#include "fit/scaled_tensor.h"
#include "fit/sensitivity.h"
#include "network/network.h"

namespace btf {
namespace {

struct FitInputs {
  std::unique_ptr<const network::Network> network;  // nullptr without a graph
  std::vector<Dump> dumps;
  FitReport report;  // what listing the dumps has put into it
};

// The measures of a type by other processes. If `pieces` is nullptr, everything is measured here.
struct GatheredMeasures {
  const ItemPieces* pieces = nullptr;
  std::size_t type = 0;  // index into the plan's narrow()
};

using network::kNoValue;
using network::Network;

// Reports tensors of the dumps that are not floats, are narrow already, or are not in the graph.
Status check_dumps(const std::vector<Dump>& dumps, std::span<TensorSet> sets, bool graph,
                   FitReport& report) {
  std::uint64_t floats = 0;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    std::uint64_t narrow = 0;
    std::string first;
    for (const DumpedTensor& tensor : dumps[d].tensors()) {
      BTF_ASSIGN(const auto file, sets[d].file(tensor.place.member));
      const auto read = file->tensor(tensor.place.index);
      if (!read)
        dumps[d].note(read.error().in_file(sets[d].path()).within("'" + tensor.name + "'"));
      if (!read || !read->dtype) continue;
      const DTypeInfo& dtype = info(*read->dtype);
      if (!dtype.floating()) {
        ++report.integers;
        continue;
      }
      ++floats;
      if (dtype.bits < 32 && narrow++ == 0) first = tensor.name + "' is " + std::string(dtype.name);
      if (graph && tensor.value == kNoValue && !tensor.twice &&
          std::ranges::find(report.unused, tensor.name) == report.unused.end())
        report.unused.push_back(tensor.name);
    }
    if (narrow > 0)
      report.warnings.push_back(
          sets[d].path() + ": '" + first +
          (narrow > 1 ? ", and other tensors are narrow too" : "") +
          ", so what rounding has lost already cannot be seen; dump a run in float32");
  }
  if (floats == 0) {
    if (!report.troubles.empty()) return fail(ErrorCode::io, report.troubles.front());
    for (const Dump& dump : dumps)
      for (const std::string& trouble : dump.read_troubles()) return fail(ErrorCode::io, trouble);
    return fail(ErrorCode::refused, sets[0].path() + " contains no tensor of floats");
  }
  if (graph && report.unused.size() == floats)
    return fail(ErrorCode::refused, "no tensor of " + sets[0].path() +
                                        " is in the graph, for example '" + report.unused.front() +
                                        "'");
  return {};
}

// Fails if nothing can be measured.
Result<FitInputs> open_fit(std::span<TensorSet> sets, const FitOptions& options) {
  if (sets.empty() || options.dtypes.empty())
    return fail(ErrorCode::invalid_argument, "fit needs at least one dump and one dtype");
  for (const DType dtype : options.dtypes)
    if (dtype != DType::float16 && dtype != DType::bfloat16 && !needs_scale(dtype))
      return fail(ErrorCode::unsupported,
                  "fit cannot judge " + std::string(info(dtype).name) +
                      ", only float16, bfloat16 and signed types of 8 bits or fewer");
  FitInputs inputs;
  inputs.report.graph = options.graph;
  if (options.graph) {
    BTF_ASSIGN(Network network, Network::read(*options.graph));
    if (network.nodes().empty())
      return std::unexpected(
          Error{ErrorCode::refused, "the model's graph has no nodes"}.in_file(*options.graph));
    inputs.network = std::make_unique<const Network>(std::move(network));
  }
  for (TensorSet& set : sets) {
    inputs.report.dumps.push_back(set.path());
    BTF_ASSIGN(Dump dump, Dump::list(set, inputs.network.get(), inputs.report.troubles));
    inputs.dumps.push_back(std::move(dump));
  }
  BTF_TRY(check_dumps(inputs.dumps, sets, inputs.network != nullptr, inputs.report));
  return inputs;
}

using network::kNoNode;

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

FitOfType empty_result(const NarrowType& type) {
  return {.dtype = type.dtype(),
          .largest = type.largest(),
          .smallest = type.smallest(),
          .unit_roundoff = type.unit_roundoff(),
          .tensors = {},
          .layers = {},
          .outputs = {}};
}

// The fit of one type, over all dumps.
class TypeFit {
 public:
  TypeFit(const Network& network, const Flow& flow, const NarrowType& type)
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
      layer.present = true;
      const std::string& trouble = measures.nodes[node].trouble;
      layer.judged |= trouble.empty();
      if (layer.trouble.empty()) layer.trouble = trouble;
      for (const NodeFinding& finding : found[node]) add(layer, finding);
    }
    AssumedNodes nodes{std::vector<bool>(layers_.size()), std::vector<bool>(layers_.size())};
    for (const auto& [node, findings] : found) {
      if (gives_infinite(findings)) nodes.infinite[node] = true;
      for (const NodeFinding& finding : findings)
        // If that node has findings of its own, these decide.
        if (finding.reason == FitReason::feeds && finding.limit == 0 && found[finding.node].empty())
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
      outputs_[i].present |= measures.values[network_.outputs()[i]].floating;
    }
  }

  FitOfType result() const {
    FitOfType result = empty_result(type_);
    for (std::uint32_t value = 0; value < values_.size(); ++value) {
      if (values_[value].elements == 0) continue;
      result.tensors.push_back(tensor_of(network_.values()[value].name, values_[value], type_));
      result.tensors.back().weight = network_.values()[value].weight.has_value();
    }
    for (std::uint32_t node = 0; node < layers_.size(); ++node)
      if (layers_[node].present) result.layers.push_back(layer_of(node));
    for (const FitLayer& layer : result.layers) {
      result.wide += layer.state == FitState::wide ? 1 : 0;
      result.unjudged += layer.state == FitState::unjudged ? 1 : 0;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].present)
        result.outputs.push_back({.name = network_.values()[network_.outputs()[i]].name,
                                  .narrow = outputs_[i].narrow,
                                  .kept = outputs_[i].kept});
    return result;
  }

 private:
  // Values that only come near the end of the range do not count.
  bool gives_infinite(const std::vector<NodeFinding>& findings) const {
    return std::ranges::any_of(findings, [&](const NodeFinding& finding) {
      const bool overflow = finding.reason == FitReason::overflow_output ||
                            finding.reason == FitReason::overflow_input ||
                            finding.reason == FitReason::overflow_inside;
      return finding.reason == FitReason::nonfinite ||
             (overflow && finding.number > type_.largest());
    });
  }

  struct CountedFinding {
    NodeFinding finding;
    std::uint64_t dumps = 0;
  };
  struct Layer {
    bool present = false;
    bool judged = false;
    std::string trouble{};
    std::vector<CountedFinding> findings{};
  };
  struct Output {
    double narrow = 0;
    double kept = 0;
    bool present = false;
  };

  static void add(Layer& layer, const NodeFinding& finding) {
    for (CountedFinding& known : layer.findings) {
      if (known.finding.reason != finding.reason || known.finding.value != finding.value) continue;
      ++known.dumps;
      known.finding.number = std::max(known.finding.number, finding.number);
      known.finding.limit = std::min(known.finding.limit, finding.limit);
      return;
    }
    layer.findings.push_back({finding, 1});
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
    for (const CountedFinding& found : own.findings)
      layer.findings.push_back(
          {.reason = found.finding.reason,
           .tensor =
               found.finding.value == kNoValue ? "" : network_.values()[found.finding.value].name,
           .layer = found.finding.node == kNoNode ? "" : layer_name(network_, found.finding.node),
           .number = found.finding.number,
           .limit = found.finding.limit,
           .dumps = found.dumps});
    if (!own.findings.empty()) {
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

// Measures tensors without a network. Tensors of the same name in several dumps count as one.
// Errors of reading are put into the report.
Result<FitOfType> measure_alone(const std::vector<Dump>& dumps, const NarrowType& type,
                                const GatheredMeasures& known, const Execution& execution,
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
  FitOfType result = empty_result(type);
  for (const std::string& name : order)
    result.tensors.push_back(tensor_of(name, found.at(name), type));
  return result;
}

Result<FitOfType> judge_all(const Network& network, const std::vector<Dump>& dumps,
                            const NarrowType& type, const GatheredMeasures& known,
                            const Execution& execution) {
  const Flow flow(network);
  TypeFit all(network, flow, type);
  std::optional<DumpMeasures> last;
  for (std::size_t d = 0; d < dumps.size(); ++d) {
    DumpMeasures measures;
    if (known.pieces != nullptr) {
      BTF_TRY(check_cancelled(execution));
      measures = assemble_measures(network, dumps[d], type, known.pieces->dump(known.type, d));
    } else {
      BTF_ASSIGN(measures,
                 measure_dump(network, dumps[d], type, last ? &*last : nullptr, execution));
    }
    all.take(dumps[d], measures);
    last = std::move(measures);
  }
  return all.result();
}

// Items that are measured at a time; their results are lost if the process ends.
constexpr std::size_t kBatch = 32;

using Texts = std::set<std::string>;

Texts read_troubles(const FitPlan& plan) {
  Texts all;
  const auto add = [&](const std::vector<std::string>& troubles) {
    all.insert(troubles.begin(), troubles.end());
  };
  for (const Dump& dump : plan.dumps()) add(dump.read_troubles());
  if (plan.network() != nullptr) add(plan.network()->read_troubles());
  return all;
}

// The errors of reading the item's own values and those that its layer reads.
Texts troubles_of(const FitMeasures& measures, const Texts& unread) {
  Texts found;
  const auto take = [&](const std::string& trouble) {
    if (!trouble.empty()) found.insert(trouble);
  };
  for (const FitMeasures::RunMeasures& run : measures.runs)
    for (const FitMeasures::TypeMeasures& type : run.types) {
      take(type.trouble);
      for (const ValueNoise& value : type.values) take(value.trouble);
      if (type.node && unread.contains(type.node->plain.trouble)) take(type.node->plain.trouble);
    }
  for (const ScaledMeasure& scales : measures.scales) take(scales.trouble);
  return found;
}

class ShareMeasuring {
 public:
  ShareMeasuring(const FitPlan& plan, const FitOptions& options, std::optional<FileState> graph,
                 FitShare& share)
      : plan_(plan),
        options_(options),
        graph_(graph),
        share_(share),
        measuring_(plan, options.execution) {}

  Status run() {
    std::vector<std::uint64_t> own;
    for (std::uint64_t number = 0; number < plan_.items().size(); ++number)
      if (share_.is_own(number)) own.push_back(number);
    for (std::size_t first = 0; first < own.size(); first += kBatch)
      BTF_TRY(measure(std::span(own).subspan(first, std::min(kBatch, own.size() - first))));
    return {};
  }

 private:
  Status measure(std::span<const std::uint64_t> numbers) {
    std::vector<const FitItem*> items;
    for (const std::uint64_t number : numbers) items.push_back(&plan_.items()[number]);
    BTF_ASSIGN(std::vector<FitMeasures> found, measuring_.run(items));
    BTF_TRY(check_read(found));
    const Texts unread = read_troubles(plan_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Texts troubles = troubles_of(found[i], unread);
      MeasuredFit measured{.trouble = troubles.empty() ? "" : *troubles.begin()};
      measured.measures = std::make_shared<FitMeasures>(std::move(found[i]));
      BTF_ASSIGN(measured.files, files_of(*items[i]));
      share_.take(numbers[i], measured);
    }
    return {};
  }

  // Fails on an error of reading that no item has in its result: the shard has to run again.
  Status check_read(std::span<const FitMeasures> found) {
    const Texts unread = read_troubles(plan_);
    for (const FitMeasures& measures : found) reported_.merge(troubles_of(measures, unread));
    for (const std::string& trouble : unread)
      if (!reported_.contains(trouble)) return fail(ErrorCode::io, trouble);
    return {};
  }

  // Each file's state is taken before the check that it is unchanged, so it is the state of what
  // was read.
  Result<decltype(MeasuredFit::files)> files_of(const FitItem& item) const {
    decltype(MeasuredFit::files) files;
    for (const auto& [dump, member] : plan_.members(item)) {
      const TensorSet& set = plan_.dumps()[dump].set();
      const std::string path = set.path(member);
      if (std::ranges::find(files, path, [](const auto& file) { return file.first; }) ==
          files.end()) {
        BTF_ASSIGN(const auto state, FileState::of(path));
        files.emplace_back(path, state);
      }
      BTF_TRY(set.check_unchanged(member));
    }
    if (options_.graph) files.emplace_back(*options_.graph, graph_);
    if (plan_.network() != nullptr) BTF_TRY(plan_.network()->check_unchanged());
    return files;
  }

  const FitPlan& plan_;
  const FitOptions& options_;
  std::optional<FileState> graph_;  // before it was read
  FitShare& share_;
  Texts reported_;  // troubles of items
  ItemMeasuring measuring_;
};

}  // namespace

Status measure_fit(std::span<TensorSet> dumps, const FitOptions& options, FitShare& share) {
  BTF_ASSIGN(const auto graph, FileState::of(options.graph.value_or("")));
  BTF_ASSIGN(const FitInputs inputs, open_fit(dumps, options));
  const FitPlan plan(inputs.network.get(), inputs.dumps, options.dtypes);
  BTF_TRY(share.plan(plan.planned()));
  return ShareMeasuring(plan, options, graph, share).run();
}

namespace {

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

template <typename Tensor>
void warn_of_nonfinite(const std::vector<Tensor>& tensors, std::vector<std::string>& warnings) {
  for (const Tensor& tensor : tensors) {
    if (tensor.weight || tensor.nan + tensor.infinite == 0) continue;
    const bool all = tensor.nan + tensor.infinite == tensor.elements;
    warnings.push_back("'" + tensor.name + "' has " + std::to_string(tensor.nan) + " NaN and " +
                       std::to_string(tensor.infinite) + " Inf in the dump" +
                       (all ? " and nothing else" : "") + "; they are ignored");
  }
}

Status measure_scaled(const FitInputs& inputs, std::span<const DType> dtypes,
                      const ScaledPieces* pieces, const FitOptions& options, FitReport& report) {
  BTF_ASSIGN(ScaleResults found,
             fit_scales(inputs.network.get(), inputs.dumps, dtypes, options.execution, pieces));
  std::ranges::move(found.troubles, std::back_inserter(report.troubles));
  std::ranges::move(found.warnings, std::back_inserter(report.warnings));
  if (report.types.empty()) warn_of_nonfinite(found.types[0].tensors, report.warnings);
  report.scaled = std::move(found.types);
  return {};
}

// Puts all errors of reading into the report, each once, so that it never looks complete if one was
// met anywhere.
void take_read_troubles(const FitInputs& inputs, FitReport& report) {
  const auto take = [&](const std::vector<std::string>& troubles) {
    report.troubles.insert(report.troubles.end(), troubles.begin(), troubles.end());
  };
  for (const Dump& dump : inputs.dumps) take(dump.read_troubles());
  if (inputs.network != nullptr) take(inputs.network->read_troubles());
  Texts seen;
  std::erase_if(report.troubles,
                [&](const std::string& trouble) { return !seen.insert(trouble).second; });
}

// `pieces`: the measures of other processes; nullptr if everything is measured here.
Result<FitReport> judge(FitInputs& inputs, std::span<TensorSet> dumps, const ItemPieces* pieces,
                        const FitOptions& options) {
  FitReport report = std::move(inputs.report);
  std::vector<DType> scaled;
  for (const DType dtype : options.dtypes) {
    if (needs_scale(dtype)) {
      scaled.push_back(dtype);
      continue;
    }
    const NarrowType type(dtype);
    const GatheredMeasures known{.pieces = pieces, .type = report.types.size()};
    BTF_ASSIGN(FitOfType found,
               inputs.network != nullptr
                   ? judge_all(*inputs.network, inputs.dumps, type, known, options.execution)
                   : measure_alone(inputs.dumps, type, known, options.execution, report));
    take_read_troubles(inputs, report);
    if (found.unjudged > 0 && found.unjudged == found.layers.size() && !report.troubles.empty())
      return fail(ErrorCode::io, report.troubles.front());
    if (found.unjudged > 0 && found.unjudged == found.layers.size())
      return fail(ErrorCode::refused, "no layer can be judged; the first is '" +
                                          found.layers[0].name + "': " + found.layers[0].why);
    if (report.types.empty()) warn_of_nonfinite(found.tensors, report.warnings);
    report.types.push_back(std::move(found));
  }
  if (!scaled.empty())
    BTF_TRY(measure_scaled(inputs, scaled, pieces != nullptr ? &pieces->scaled() : nullptr, options,
                           report));
  take_read_troubles(inputs, report);
  for (const TensorSet& set : dumps) BTF_TRY(set.check_unchanged());
  if (inputs.network != nullptr) BTF_TRY(inputs.network->check_unchanged());
  return report;
}

}  // namespace

Result<FitReport> fit(std::span<TensorSet> dumps, const FitOptions& options) {
  BTF_ASSIGN(FitInputs inputs, open_fit(dumps, options));
  return judge(inputs, dumps, nullptr, options);
}

Result<FitReport> judge_measured(std::span<TensorSet> dumps, const FitOptions& options,
                                 FitShare& share) {
  BTF_ASSIGN(FitInputs inputs, open_fit(dumps, options));
  const FitPlan plan(inputs.network.get(), inputs.dumps, options.dtypes);
  BTF_TRY(share.plan(plan.planned()));
  BTF_ASSIGN(const ItemPieces pieces, ItemPieces::gather(plan, share));
  return judge(inputs, dumps, &pieces, options);
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
