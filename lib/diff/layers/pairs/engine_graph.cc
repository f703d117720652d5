#include "diff/layers/pairs/engine_graph.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace btf {
namespace {

// The ONNX operator that a layer does as much as; none: a fused kernel.
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

// Tensors that are one value in several formats.
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

  // Does the layer only say again what another made?
  bool looks_through(const EngineLayer& layer) const {
    return is_reformat(layer) && of(layer.inputs[0]) == of(layer.outputs[0]);
  }

 private:
  // What has the network's name stands for the others.
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

// Bits of a type's significand; of codes whose scale is not known, as many as they are good for.
unsigned precision_of(DType dtype) {
  constexpr unsigned kOfCodes = 6;
  constexpr unsigned kExact = 64;
  const DTypeInfo& row = info(dtype);
  if (row.floating()) return row.fp.mantissa_bits + 1U;
  return row.bits <= 8 && row.kind != NumberKind::boolean ? kOfCodes : kExact;
}

// The coarsest type that a layer reads, computes with, or makes. Nothing: the list says none, or
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

void say_fused(const EngineList& list, const EngineLayer& layer, GraphValue& value) {
  value.fused = layer.name;
  value.nodes = layer.nodes;
  value.compute = computed_in(list, layer);
}

}  // namespace

LayerGraph graph_of(const EngineList& list) {
  const Groups groups(list);
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> number(list.tensors.size(), kNone);  // of the value of a group
  std::vector<std::vector<std::string>> others(list.tensors.size());
  std::vector<bool> made(list.tensors.size(), false);
  std::vector<bool> output(list.tensors.size(), false);
  for (std::uint32_t i = 0; i < list.tensors.size(); ++i) {
    if (groups.of(i) != i) others[groups.of(i)].push_back(list.tensors[i].name);
    if (list.tensors[i].output) output[groups.of(i)] = true;
  }
  for (const EngineLayer& layer : list.layers)
    for (const std::uint32_t tensor : layer.outputs)
      if (!groups.looks_through(layer)) made[groups.of(tensor)] = true;
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
    if (groups.looks_through(layer)) continue;
    std::vector<std::uint32_t> inputs;
    for (const std::uint32_t tensor : layer.inputs)
      if (const std::uint32_t input = number[groups.of(tensor)]; input != kNone)
        inputs.push_back(input);
    for (const std::uint32_t tensor : layer.outputs) {
      if (number[groups.of(tensor)] != kNone) continue;
      GraphValue& value = add(groups.of(tensor));
      value.op = op_of(layer);
      value.inputs = inputs;
      say_fused(list, layer, value);
    }
  }
  return graph;
}

namespace {

// Which layer of the engine computes each of a model's values.
class EngineLayers {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  EngineLayers(const EngineList& list, const LayerGraph& model) : of_(model.values.size(), kNone) {
    const Groups groups(list);
    std::unordered_map<std::string_view, std::uint32_t> tensors;
    std::unordered_map<std::string_view, std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < list.layers.size(); ++i) {
      const EngineLayer& layer = list.layers[i];
      if (groups.looks_through(layer)) continue;
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
  // "{ForeignNode[a...b]}" names the first and the last node: what the model has between them, and
  // no other layer, is in it.
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

// Values by the engine's order, none before what it is computed from.
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

Status take_engine(const EngineList& list, LayerGraph& model) {
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
    if (layers.of(v) != EngineLayers::kNone) say_fused(list, list.layers[layers.of(v)], value);
  }
  model.values = std::move(values);
  return {};
}

}  // namespace btf
