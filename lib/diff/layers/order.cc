#include "diff/layers/order.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "btf/tensorrt.h"
#include "btf/try.h"
#include "formats/onnx_model.h"
#include "formats/tensor_file.h"
#include "sets/directory.h"
#include "sets/names/match.h"
#include "sets/names/name_keys.h"

namespace btf {

Result<LayerGraph> read_layer_graph(const std::string& path) {
  const auto in_file = [&](const Error& error) { return std::unexpected(error.in_file(path)); };
  const auto opened = open_source(path);
  if (!opened) return in_file(opened.error());
  const auto& model = *opened;
  const Result<OnnxGraph> frame = read_onnx_graph(*model);
  if (!frame) return in_file(frame.error().within("is not a readable ONNX model"));
  LayerGraph graph;
  std::unordered_map<std::string, std::uint32_t> numbers;
  const auto add = [&](const std::string& name) -> GraphValue& {
    numbers[name] = static_cast<std::uint32_t>(graph.values.size());
    graph.values.push_back({.name = name, .op = {}, .inputs = {}});
    return graph.values.back();
  };
  for (const std::string& name : frame->inputs) add(name).input = true;
  const Status read = for_each_onnx_node(*model, [&](const OnnxNode& node) -> Status {
    std::vector<std::uint32_t> inputs;
    // A value without a producer is a weight.
    for (const std::string& name : node.inputs)
      if (const auto at = numbers.find(name); at != numbers.end()) inputs.push_back(at->second);
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      GraphValue& value = add(name);
      value.op = node.op_type;
      value.node = node.name;
      value.inputs = inputs;
    }
    return {};
  });
  if (!read) return in_file(read.error());
  for (const std::string& name : frame->outputs)
    if (const auto at = numbers.find(name); at != numbers.end())
      graph.values[at->second].output = true;
  return graph;
}

DumpedInputs InputSearch::of(std::uint32_t value) {
  ++search_id_;
  DumpedInputs found;
  std::vector<std::uint32_t> open = graph_.values[value].inputs;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (seen_[at] == search_id_) continue;
    seen_[at] = search_id_;
    if (layer_of_[at] != kNoLayer) {
      found.layers.push_back(layer_of_[at]);
      continue;
    }
    const GraphValue& unseen = graph_.values[at];
    // Weights in nodes of their own (Constant) are known.
    if (!unseen.op.empty() && unseen.op != "Constant") found.unseen.push_back(at);
    open.insert(open.end(), unseen.inputs.begin(), unseen.inputs.end());
  }
  std::ranges::sort(found.layers);
  std::ranges::sort(found.unseen);
  return found;
}

namespace {

// The ONNX operator that corresponds to a type of layer; none for fused kernels.
struct TypeRow {
  std::string_view type;
  std::string_view op;
};

constexpr auto kTypes = std::to_array<TypeRow>({
    {"Activation", "Relu"},
    {"CaskConvolution", "Conv"},
    {"CaskDeconvolutionV2", "ConvTranspose"},
    {"CaskGemmConvolution", "MatMul"},
    {"CaskGemmMatrixMultiply", "MatMul"},
    {"CaskPooling", "AveragePool"},
    {"CaskSoftMaxV2", "Softmax"},
    {"Concatenation", "Concat"},
    {"Convolution", "Conv"},
    {"Deconvolution", "ConvTranspose"},
    {"FullyConnected", "Gemm"},
    {"Gather", "Gather"},
    {"MatrixMultiply", "MatMul"},
    {"NoOp", "Identity"},
    {"Normalization", "InstanceNormalization"},
    {"Padding", "Pad"},
    {"Pooling", "AveragePool"},
    {"Reduce", "ReduceMean"},
    {"Reformat", "Identity"},
    {"Resize", "Resize"},
    {"Shuffle", "Transpose"},
    {"Slice", "Slice"},
    {"SoftMax", "Softmax"},
    {"TopK", "TopK"},
});

std::string op_of(const EngineLayer& layer) {
  const auto* const row = std::ranges::find(kTypes, layer.type, &TypeRow::type);
  return row == kTypes.end() ? layer.type : std::string(row->op);
}

bool is_reformat(const EngineLayer& layer) {
  return layer.inputs.size() == 1 && layer.outputs.size() == 1 &&
         (layer.type == "Reformat" || layer.name.starts_with("Reformatting CopyNode"));
}

// Groups of tensors that are one value in several formats.
class Groups {
 public:
  explicit Groups(const EngineList& list) : list_(list), parent_(list.tensors.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (std::uint32_t i = 0; i < list.layers.size(); ++i)
      if (is_reformat(list.layers[i])) join(list.layers[i]);
  }

  std::uint32_t of(std::uint32_t tensor) const {
    while (parent_[tensor] != tensor) tensor = parent_[tensor];
    return tensor;
  }

  // Whether the layer only repeats in another format what another one computed.
  bool repeats_input(const EngineLayer& layer) const {
    return is_reformat(layer) && of(layer.inputs[0]) == of(layer.outputs[0]);
  }

 private:
  // Prefers the tensor whose name the network has.
  void join(const EngineLayer& layer) {
    const std::uint32_t from = of(layer.inputs[0]);
    const std::uint32_t to = of(layer.outputs[0]);
    if (from == to) return;
    if (is_made_by_tensorrt(list_.tensors[to].name))
      parent_[to] = from;
    else if (is_made_by_tensorrt(list_.tensors[from].name))
      parent_[from] = to;
  }

  const EngineList& list_;
  std::vector<std::uint32_t> parent_;
};

// Bits of a type's significand. For codes of unknown scale, the bits that they are usually good
// for.
unsigned precision_of(DType dtype) {
  constexpr unsigned kOfCodes = 6;
  constexpr unsigned kExact = 64;
  const DTypeInfo& row = info(dtype);
  if (row.floating()) return row.fp.mantissa_bits + 1U;
  return row.bits <= 8 && row.kind != NumberKind::boolean ? kOfCodes : kExact;
}

// The coarsest type that a layer reads, computes with or writes; unset if the list has no types, or
// only those of indices.
std::optional<DType> computed_in(const EngineList& list, const EngineLayer& layer) {
  std::optional<DType> coarsest = layer.weights;
  const auto take = [&](const std::vector<std::uint32_t>& tensors) {
    for (const std::uint32_t tensor : tensors) {
      const std::optional<DType>& dtype = list.tensors[tensor].dtype;
      if (dtype && (!coarsest || precision_of(*dtype) < precision_of(*coarsest))) coarsest = dtype;
    }
  };
  take(layer.inputs);
  take(layer.outputs);
  constexpr unsigned kOfFloat64 = 53;
  if (coarsest && precision_of(*coarsest) > kOfFloat64) return std::nullopt;
  return coarsest;
}

void set_fused(const EngineList& list, const EngineLayer& layer, GraphValue& value) {
  value.fused = layer.name;
  value.nodes = layer.nodes;
  value.compute = computed_in(list, layer);
}

}  // namespace

LayerGraph graph_of(const EngineList& list) {
  const Groups groups(list);
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> number(list.tensors.size(), kNone);  // number of a group's value
  std::vector<std::vector<std::string>> others(list.tensors.size());
  std::vector<bool> made(list.tensors.size(), false);
  std::vector<bool> output(list.tensors.size(), false);
  for (std::uint32_t i = 0; i < list.tensors.size(); ++i) {
    if (groups.of(i) != i) others[groups.of(i)].push_back(list.tensors[i].name);
    if (list.tensors[i].output) output[groups.of(i)] = true;
  }
  for (const EngineLayer& layer : list.layers)
    for (const std::uint32_t tensor : layer.outputs)
      if (!groups.repeats_input(layer)) made[groups.of(tensor)] = true;
  LayerGraph graph;
  const auto add = [&](std::uint32_t group) -> GraphValue& {
    number[group] = static_cast<std::uint32_t>(graph.values.size());
    graph.values.push_back({.name = list.tensors[group].name,
                            .op = {},
                            .inputs = {},
                            .output = output[group],
                            .aliases = std::move(others[group])});
    return graph.values.back();
  };
  for (std::uint32_t i = 0; i < list.tensors.size(); ++i)
    if (groups.of(i) == i && !made[i]) add(i).input = true;
  for (const EngineLayer& layer : list.layers) {
    if (groups.repeats_input(layer)) continue;
    std::vector<std::uint32_t> inputs;
    for (const std::uint32_t tensor : layer.inputs)
      if (const std::uint32_t input = number[groups.of(tensor)]; input != kNone)
        inputs.push_back(input);
    for (const std::uint32_t tensor : layer.outputs) {
      if (number[groups.of(tensor)] != kNone) continue;
      GraphValue& value = add(groups.of(tensor));
      value.op = op_of(layer);
      value.inputs = inputs;
      set_fused(list, layer, value);
    }
  }
  return graph;
}

namespace {

// The engine's layer that computes each of a model's values.
class EngineLayers {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  EngineLayers(const EngineList& list, const LayerGraph& model) : of_(model.values.size(), kNone) {
    const Groups groups(list);
    std::unordered_map<std::string_view, std::uint32_t> tensors;
    std::unordered_map<std::string_view, std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < list.layers.size(); ++i) {
      const EngineLayer& layer = list.layers[i];
      if (groups.repeats_input(layer)) continue;
      for (const std::uint32_t tensor : layer.outputs)
        tensors.try_emplace(list.tensors[groups.of(tensor)].name, i);
      for (const std::string& node : layer.nodes) nodes.try_emplace(node, i);
    }
    for (std::size_t v = 0; v < model.values.size(); ++v) {
      const GraphValue& value = model.values[v];
      if (const auto at = tensors.find(value.name); at != tensors.end())
        of_[v] = at->second;
      else if (const auto node = nodes.find(value.node); node != nodes.end() && !value.node.empty())
        of_[v] = node->second;
      any_ = any_ || of_[v] != kNone;
    }
    fill_regions(list, model);
  }

  bool any() const { return any_; }
  std::uint32_t of(std::size_t value) const { return of_[value]; }

 private:
  // "{ForeignNode[a...b]}" names the first and the last node. It contains the model's nodes between
  // them that are in no other layer.
  void fill_regions(const EngineList& list, const LayerGraph& model) {
    std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> spans;
    for (std::size_t v = 0; v < of_.size(); ++v) {
      if (of_[v] == kNone || !list.layers[of_[v]].name.contains("{ForeignNode[")) continue;
      const auto [at, added] = spans.try_emplace(of_[v], v, v);
      if (!added) at->second.second = v;
    }
    for (const auto& [layer, span] : spans)
      for (std::size_t v = span.first; v < span.second; ++v)
        if (of_[v] == kNone && !model.values[v].op.empty()) of_[v] = layer;
  }

  std::vector<std::uint32_t> of_;
  bool any_ = false;
};

// Values in the engine's order, but none before the values that it is computed from.
std::vector<std::uint32_t> engine_order(const EngineLayers& layers, const LayerGraph& model) {
  std::vector<std::uint64_t> rank(model.values.size(), 0);
  for (std::size_t v = 0; v < rank.size(); ++v) {
    if (layers.of(v) != EngineLayers::kNone) rank[v] = layers.of(v) + 1U;
    for (const std::uint32_t input : model.values[v].inputs)
      rank[v] = std::max(rank[v], rank[input]);
  }
  std::vector<std::uint32_t> order(rank.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t v) { return rank[v]; });
  return order;
}

}  // namespace

Status apply_engine_order(const EngineList& list, LayerGraph& model) {
  const EngineLayers layers(list, model);
  if (!layers.any())
    return fail(ErrorCode::invalid_argument,
                "has no node and no tensor of the model: its first layer is '" +
                    list.layers.front().name + "', the model's first value '" +
                    (model.values.empty() ? "" : model.values.front().name) + "'");
  const std::vector<std::uint32_t> order = engine_order(layers, model);
  std::vector<std::uint32_t> now(order.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) now[order[at]] = at;
  std::vector<GraphValue> values;
  values.reserve(order.size());
  for (const std::uint32_t v : order) {
    GraphValue& value = values.emplace_back(std::move(model.values[v]));
    for (std::uint32_t& input : value.inputs) input = now[input];
    if (layers.of(v) != EngineLayers::kNone) set_fused(list, list.layers[layers.of(v)], value);
  }
  model.values = std::move(values);
  return {};
}

namespace {

// Of fewer than ten names, all must have a number.
bool nearly_all(std::uint64_t some, std::uint64_t all) { return all > 0 && some * 10 >= all * 9; }

// Only the first of equal lines counts.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#') && seen.emplace(line).second)
      lines.emplace_back(line);
  }
  return lines;
}

bool is_text(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  });
}

class Ordering {
 public:
  explicit Ordering(LayerReport& report)
      : report_(report), rank_(report.layers.size(), kUnplaced) {}

  Status by_list(std::string_view text, const std::string& path) {
    report_.order_left_out.clear();
    report_.order_unknown.clear();
    report_.order_left_out_by = report_.order;
    if (report_.order == OrderSource::graph) report_.graph_path = report_.order_path;
    report_.order = OrderSource::file;
    report_.order_path = path;
    if (!is_text(text))
      return std::unexpected(
          Error{ErrorCode::malformed, "is not a list of names, one a line; `graph` takes a model"}
              .in_file(path));
    const std::vector<std::string> names = lines_of(text);
    std::vector<bool> known = place(names);
    if (std::ranges::all_of(rank_, [](std::uint64_t rank) { return rank == kUnplaced; }))
      return std::unexpected(
          Error{ErrorCode::invalid_argument, "no line names a tensor of both sides"}.in_file(path));
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!known[i]) report_.order_unknown.push_back(names[i]);
    place_omitted();
    finish();
    if (report_.linked()) drop_later_inputs();
    return {};
  }

  Status by_model(const std::string& path) {
    BTF_ASSIGN(const LayerGraph graph, read_layer_graph(path));
    return by_graph(graph, path);
  }

  // Uses the engine's order; links come from the model if there is one.
  Status by_engine(const std::string& path, const std::optional<std::string>& model) {
    BTF_ASSIGN(const EngineList list, read_engine_list(path));
    report_.engine_path = path;
    if (model) {
      BTF_ASSIGN(LayerGraph graph, read_layer_graph(*model));
      const Status taken = apply_engine_order(list, graph);
      if (!taken) return std::unexpected(taken.error().in_file(path));
      return by_graph(graph, *model);
    }
    const LayerGraph graph = graph_of(list);
    return graph.values.empty() ? by_engine_names(list, path) : by_graph(graph, path);
  }

  Status by_graph(const LayerGraph& graph, const std::string& path) {
    report_.order = OrderSource::graph;
    report_.order_path = path;
    std::vector<std::string> names;
    std::vector<std::uint64_t> values;  // the values with these names
    for (std::uint64_t v = 0; v < graph.values.size(); ++v) {
      const auto add = [&](const std::string& name) {
        names.push_back(name);
        values.push_back(v);
      };
      add(graph.values[v].name);
      std::ranges::for_each(graph.values[v].aliases, add);
    }
    place(names);
    if (std::ranges::all_of(rank_, [](std::uint64_t rank) { return rank == kUnplaced; }))
      return std::unexpected(Error{ErrorCode::invalid_argument,
                                   "no name of the graph matches a tensor of both sides: '" +
                                       (names.empty() ? "" : names.back()) + "' in the graph, '" +
                                       report_.layers.front().golden + "' in the dumps"}
                                 .in_file(path));
    for (std::uint64_t& rank : rank_)
      if (rank != kUnplaced) rank = values[rank];
    finish();
    link(graph);
    note_outputs_of_actual(graph);
    return {};
  }

  // Those that golden has are among the layers.
  void note_outputs_of_actual(const LayerGraph& graph) {
    std::vector<std::string> names;
    for (std::uint64_t v = 0; v < graph.values.size(); ++v) {
      const GraphValue& value = graph.values[v];
      if (!value.output || std::ranges::find(rank_, v) != rank_.end()) continue;
      names.push_back(value.name);
      names.insert(names.end(), value.aliases.begin(), value.aliases.end());
    }
    for (const NameMatch& match : match_values(report_.actual_only, names))
      report_.missing_outputs.push_back(report_.actual_only[match.left]);
  }

  // Returns false if the set does not record an order for nearly all.
  bool by_recorded(const std::vector<LayerPositions>& places,
                   std::optional<std::uint64_t> LayerPositions::* recorded,
                   const OrderedSide& side) {
    std::uint64_t known = 0;
    for (const LayerPositions& place : places) known += (place.*recorded).has_value() ? 1U : 0U;
    if (!nearly_all(known, places.size())) return false;
    report_.order = OrderSource::recorded;
    report_.order_path = side.recorded_in;
    for (std::size_t i = 0; i < places.size(); ++i)
      rank_[i] = (places[i].*recorded).value_or(kUnplaced);
    finish();
    return true;
  }

  bool by_numbers(std::string Layer::* name) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t known = 0;
    for (const Layer& layer : report_.layers) {
      const auto number = leading_number(layer.*name);
      numbers.push_back(number.value_or(kUnplaced));
      known += number ? 1U : 0U;
    }
    if (!nearly_all(known, numbers.size())) return false;
    report_.order = OrderSource::numbered;
    rank_ = std::move(numbers);
    finish();
    return true;
  }

  void by_store(const std::vector<LayerPositions>& places, std::uint64_t LayerPositions::* stored) {
    report_.order = OrderSource::stored;
    for (std::size_t i = 0; i < places.size(); ++i) rank_[i] = places[i].*stored;
    finish();
  }

  // What only golden has is inserted before the layer that follows it there.
  void by_store_of_actual(const std::vector<LayerPositions>& places) {
    std::map<std::uint64_t, std::uint64_t> next;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!report_.layers[i].actual.empty())
        next.emplace(places[i].golden_stored, places[i].actual_stored);
    report_.order = OrderSource::stored;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto behind = next.lower_bound(places[i].golden_stored);
      const bool pair = !report_.layers[i].actual.empty();
      rank_[i] = pair                   ? 2 * places[i].actual_stored + 1
                 : behind != next.end() ? 2 * behind->second
                                        : kUnplaced - 1;
    }
    finish();
  }

  // Dumps may begin with the outputs that were requested. Nothing that precedes all codes has their
  // quantisation error; whatever has more of it than the first codes do is computed from them and
  // moves to the end.
  void move_outputs_to_end() {
    constexpr double kOfCodes = 1e-3;
    constexpr std::size_t kAsked = 2;
    const std::vector<Layer>& layers = report_.layers;
    double error = 0;
    std::size_t first = layers.size();
    std::size_t asked = 0;
    for (std::size_t i = 0; i < layers.size() && asked < kAsked; ++i) {
      if (layers[i].tier != PairTier::qdq || !layers[i].figures) continue;
      if (asked++ == 0) first = i;
      error = std::max(error, layers[i].figures->relative_error);
    }
    if (asked == 0) return;
    for (std::size_t i = 0; i < first; ++i)
      if (layers[i].figures && layers[i].figures->relative_error > std::max(kOfCodes, 2 * error))
        rank_[i] = kUnplaced - 1;
    finish();
  }

  void by_names() {
    report_.order = OrderSource::natural;
    std::vector<std::size_t> order(rank_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto& layers = report_.layers;
    // In the order that directories have already.
    const auto by_name = [&](std::size_t a, std::size_t b) {
      return natural_less(layers[a].name(), layers[b].name());
    };
    if (!std::ranges::is_sorted(order, by_name)) std::ranges::stable_sort(order, by_name);
    for (std::size_t at = 0; at < order.size(); ++at) rank_[order[at]] = at;
    finish();
  }

 private:
  static constexpr std::uint64_t kUnplaced = UINT64_MAX;

  // Places layers by golden's names, or else actual's. Returns for each name whether it is known.
  std::vector<bool> place(const std::vector<std::string>& names) {
    std::vector<bool> known(names.size(), false);
    for (std::string Layer::* const side : {&Layer::golden, &Layer::actual}) {
      std::vector<std::string> own;
      std::vector<std::size_t> numbers;
      for (std::size_t i = 0; i < report_.layers.size(); ++i) {
        if (rank_[i] != kUnplaced || (report_.layers[i].*side).empty()) continue;
        own.push_back(report_.layers[i].*side);
        numbers.push_back(i);
      }
      for (const NameMatch& match : match_values(own, names)) {
        rank_[numbers[match.left]] = match.right;
        known[match.right] = true;
      }
    }
    return known;
  }

  // Layers that the list omits keep their position after the layer that precedes them without the
  // list.
  void place_omitted() {
    std::uint64_t behind = 0;
    for (std::size_t i = 0; i < rank_.size(); ++i) {
      const Layer& layer = report_.layers[i];
      if (rank_[i] != kUnplaced) {
        rank_[i] = behind = 2 * rank_[i] + 2;
      } else if (layer.placed) {
        rank_[i] = behind + 1;
        if (!layer.actual.empty()) report_.order_left_out.push_back(layer.golden);
      }
    }
  }

  // An engine that was built without details gives an order but no links.
  Status by_engine_names(const EngineList& list, const std::string& path) {
    std::vector<std::string> names;
    std::set<std::string_view> seen;
    for (const EngineLayer& layer : list.layers) {
      if (seen.insert(layer.name).second) names.push_back(layer.name);
      for (const std::string& node : layer.nodes)
        if (seen.insert(node).second) names.push_back(node);
    }
    report_.order = OrderSource::file;
    report_.order_path = path;
    place(names);
    if (std::ranges::all_of(rank_, [](std::uint64_t rank) { return rank == kUnplaced; }))
      return std::unexpected(
          Error{ErrorCode::invalid_argument,
                "lists names of layers only, and no tensor of both sides is called so; give the "
                "model too, or the list of an engine built with detailed profiling verbosity"}
              .in_file(path));
    place_omitted();
    finish();
    return {};
  }

  // Sorts by rank; layers without one come last.
  void finish() {
    if (!std::ranges::is_sorted(rank_)) {
      std::vector<std::size_t> order(rank_.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank_[i]; });
      std::ranges::sort(rank_);
      move_links(order);
      arrange(std::move(order));
    }
    for (std::size_t i = 0; i < rank_.size(); ++i) report_.layers[i].placed = rank_[i] != kUnplaced;
  }

  void move_links(const std::vector<std::size_t>& order) {
    std::vector<std::uint64_t> now(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) now[order[i]] = i;
    for (Layer& layer : report_.layers)
      for (std::uint64_t& input : layer.inputs) input = now[input];
  }

  // A later layer cannot be an input, whatever the graph says, since that would be a cycle.
  void drop_later_inputs() {
    std::uint64_t layers = 0;
    std::string first;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      std::vector<std::uint64_t>& inputs = report_.layers[i].inputs;
      const auto later = std::ranges::find_if(inputs, [i](std::uint64_t at) { return at >= i; });
      if (later == inputs.end()) continue;
      if (layers++ == 0)
        first = "'" + report_.layers[i].name() + "' precedes '" + report_.layers[*later].name() +
                "', its input in " + report_.graph_path;
      std::erase_if(inputs, [i](std::uint64_t at) { return at >= i; });
    }
    if (layers == 0) return;
    const std::string others = layers == 1 ? "" : "; " + std::to_string(layers - 1) + " more";
    report_.warnings.push_back(report_.order_path + ": " + first + ": this input is ignored" +
                               others);
  }

  // Moves layer order[i] to position i. In place, since there may be very many.
  void arrange(std::vector<std::size_t> order) {
    std::vector<Layer>& layers = report_.layers;
    for (std::size_t begin = 0; begin < order.size(); ++begin) {
      if (order[begin] == begin) continue;
      Layer first = std::move(layers[begin]);
      std::size_t at = begin;
      while (order[at] != begin) {
        layers[at] = std::move(layers[order[at]]);
        at = std::exchange(order[at], at);
      }
      layers[at] = std::move(first);
      order[at] = at;
    }
  }

  void link(const LayerGraph& graph) {
    std::vector<std::uint64_t> layer_of(graph.values.size(), kNoLayer);
    // A tensor that only one side has cannot be an input.
    for (std::size_t i = 0; i < report_.layers.size(); ++i)
      if (rank_[i] != kUnplaced && !report_.layers[i].actual.empty() &&
          !report_.layers[i].golden.empty())
        layer_of[rank_[i]] = i;
    InputSearch search(graph, layer_of);
    const std::set<std::string> forms = tensors_with_forms();
    for (std::size_t i = 0; i < report_.layers.size(); ++i) {
      if (rank_[i] == kUnplaced) continue;
      Layer& layer = report_.layers[i];
      const auto value = static_cast<std::uint32_t>(rank_[i]);
      layer.op = graph.values[value].op;
      layer.fused = graph.values[value].fused;
      layer.fused_nodes = graph.values[value].nodes;
      layer.compute = graph.values[value].compute;
      if (graph.values[value].input) layer.role = "input";
      if (graph.values[value].output) layer.role = "output";
      DumpedInputs found = search.of(value);
      layer.inputs = std::move(found.layers);
      if (forms.contains(qdq_name(graph.values[value].name).base))
        layer.op = op_before_codes(graph, value);
      for (const std::uint32_t unseen : found.unseen)
        if (const std::string& name = graph.values[unseen].name;
            !forms.contains(qdq_name(name).base))
          layer.unseen.push_back(name);
    }
  }

  // Tensors that a quantised model has in several forms: all the forms are one layer.
  std::set<std::string> tensors_with_forms() const {
    std::set<std::string> bases;
    for (const Layer& layer : report_.layers)
      if (layer.tier == PairTier::qdq)
        for (const std::string* const name : {&layer.actual, &layer.golden})
          bases.insert(qdq_name(*name).base);
    for (const auto* const beside : {&report_.actual_beside, &report_.golden_beside})
      for (const BesideName& form : *beside) bases.insert(qdq_name(form.name).base);
    return bases;
  }

  // The operator that computed the numbers before they became codes and numbers again.
  static std::string op_before_codes(const LayerGraph& graph, std::uint32_t value) {
    for (const std::string_view op : {"DequantizeLinear", "QuantizeLinear"}) {
      const GraphValue& made = graph.values[value];
      if (made.op == op && !made.inputs.empty()) value = made.inputs.front();
    }
    return graph.values[value].op;
  }

  LayerReport& report_;
  std::vector<std::uint64_t> rank_;
};

// By order alone, a tensor that is missing before a layer is between it and the one before. It may
// be in another branch, so up to three such gaps count.
void note_missing(LayerReport& report) {
  if (report.linked()) return;
  constexpr std::size_t kNear = 3;
  std::deque<std::vector<std::string>> gaps(1);  // the last gaps; the last one is still open
  for (Layer& layer : report.layers) {
    if (!layer.placed) continue;
    if (layer.actual.empty()) {
      gaps.back().push_back(layer.golden);
      continue;
    }
    for (const auto& gap : gaps) layer.unseen.insert(layer.unseen.end(), gap.begin(), gap.end());
    gaps.emplace_back();
    if (gaps.size() > kNear) gaps.pop_front();
  }
}

// Names that networks give their outputs: "output", "logits:0", "prob_1". Only whole names count,
// since layers have such words within their names too.
bool is_output_name(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"out", "output", "outputs", "logit", "logits", "prob", "probs", "probability",
       "probabilities", "score", "scores", "pred", "preds", "prediction", "predictions", "result",
       "results", "y", "y_pred"});
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != name.npos && last + 1 < name.size())
    name = name.substr(0, name.find_last_not_of("_:.-", last) + 1);
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::find(kWords, lower) != kWords.end();
}

// Finds the network's output if no graph says which one it is and it has no partner: the last
// tensor of both sides, or one with the name of an output. If only golden has it, actual may simply
// be a dump of some layers.
class OutputSearch {
 public:
  OutputSearch(const LayerReport& report, const std::vector<LayerPositions>& places,
               const std::vector<ActualOnly>& rest, const OrderedSide& actual)
      : report_(report), places_(places), rest_(rest), actual_(actual) {}

  // Golden's name for it.
  std::optional<std::string> find() const {
    const auto is_pair = [](const Layer& layer) { return !layer.actual.empty(); };
    const auto is_paired_output = [&](const Layer& layer) {
      return is_pair(layer) && (layer.role == "output" || is_output_name(layer.golden) ||
                                is_output_name(layer.actual));
    };
    if (rest_.empty() || std::ranges::any_of(report_.layers, is_paired_output) || !has_actuals())
      return std::nullopt;
    for (const Layer& layer : report_.layers)
      if (!is_pair(layer) && is_output_name(layer.golden)) return layer.golden;
    if (report_.layers.empty() || !knows_last()) return std::nullopt;
    const Layer& last = report_.layers.back();
    return last.placed && !is_pair(last) ? std::optional(last.golden) : std::nullopt;
  }

 private:
  // A graph says which outputs there are, and an order by names is a guess.
  bool knows_last() const {
    return !report_.linked() && report_.order != OrderSource::natural &&
           report_.order_left_out.empty();
  }

  bool has_actuals() const {
    return std::ranges::any_of(rest_, is_output_name, &ActualOnly::name) || is_last_of_actual();
  }

  bool is_last_of_actual() const {
    if (!knows_last()) return false;
    const auto of_rest = [&](auto position) {
      std::optional<std::uint64_t> last;
      for (const ActualOnly& tensor : rest_) last = std::max(last, position(tensor));
      return last;
    };
    const auto of_pairs = [&](auto position) {
      std::optional<std::uint64_t> last;
      for (const Layer& layer : report_.layers)
        if (!layer.actual.empty()) last = std::max(last, position(layer));
      return last;
    };
    if (report_.order == OrderSource::recorded)
      return of_rest([](const ActualOnly& tensor) { return tensor.recorded; }) >
             of_pairs([&](const Layer& layer) { return places_[layer.number].actual_recorded; });
    if (report_.order == OrderSource::numbered)
      return of_rest([](const ActualOnly& tensor) { return leading_number(tensor.name); }) >
             of_pairs([](const Layer& layer) { return leading_number(layer.actual); });
    return actual_.keeps_order && of_rest([](const ActualOnly& tensor) {
                                    return std::optional(tensor.stored);
                                  }) > of_pairs([&](const Layer& layer) {
                                    return std::optional(places_[layer.number].actual_stored);
                                  });
  }

  const LayerReport& report_;
  const std::vector<LayerPositions>& places_;
  const std::vector<ActualOnly>& rest_;
  const OrderedSide& actual_;
};

// Removes the layers that are no pair.
void keep_pairs(LayerReport& report) {
  const auto is_pair = [](const Layer& layer) { return !layer.actual.empty(); };
  if (std::ranges::all_of(report.layers, is_pair)) return;
  std::vector<std::uint64_t> number(report.layers.size(), 0);
  std::vector<Layer> pairs;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    Layer& layer = report.layers[i];
    number[i] = pairs.size();
    if (!is_pair(layer)) {
      if (layer.role == "output") report.missing_outputs.push_back(layer.golden);
      report.golden_only.push_back(std::move(layer.golden));
      continue;
    }
    pairs.push_back(std::move(layer));
  }
  for (Layer& layer : pairs)
    for (std::uint64_t& input : layer.inputs) input = number[input];
  report.layers = std::move(pairs);
}

}  // namespace

bool keeps_order(const TensorSet& set) {
  if (!set.one_file()) return false;
  const auto file = set.file(0);
  return file && (*file)->has(kInOrder);
}

OrderedSide ordered_side(const TensorSet& set) {
  return {.recorded_in = set.order_path(), .keeps_order = keeps_order(set)};
}

Status order_by_list(LayerReport& report, std::string_view text, const std::string& path) {
  for (Layer& layer : report.layers) {
    if (report.linked()) break;
    layer.inputs.clear();
    layer.unseen.clear();
  }
  return Ordering(report).by_list(text, path);
}

Status order_layers(LayerReport& report, const std::vector<LayerPositions>& places,
                    const std::vector<ActualOnly>& rest, QuantisedOrder quantised_order,
                    const OrderedSide& actual, const OrderedSide& golden,
                    const LayerOptions& options) {
  Ordering ordering(report);
  if (options.engine) {
    BTF_TRY(ordering.by_engine(*options.engine, options.graph));
  } else if (options.graph) {
    BTF_TRY(ordering.by_model(*options.graph));
  } else if (!ordering.by_recorded(places, &LayerPositions::golden_recorded, golden) &&
             !ordering.by_recorded(places, &LayerPositions::actual_recorded, actual) &&
             !ordering.by_numbers(&Layer::golden) && !ordering.by_numbers(&Layer::actual)) {
    if (quantised_order == QuantisedOrder::shuffled)
      ordering.by_names();
    else if (quantised_order == QuantisedOrder::actual && actual.keeps_order)
      ordering.by_store_of_actual(places);
    else if (golden.keeps_order)
      ordering.by_store(places, &LayerPositions::golden_stored);
    else if (actual.keeps_order)
      ordering.by_store(places, &LayerPositions::actual_stored);
    else
      ordering.by_names();
  }
  if (quantised_order != QuantisedOrder::none && report.order == OrderSource::stored)
    ordering.move_outputs_to_end();
  if (options.order) BTF_TRY(order_by_list(report, *options.order, options.order_path));
  note_missing(report);
  const auto output = OutputSearch(report, places, rest, actual).find();
  keep_pairs(report);
  if (output && report.missing_outputs.empty()) report.missing_outputs.push_back(*output);
  return {};
}

}  // namespace btf
