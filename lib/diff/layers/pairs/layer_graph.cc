#include "diff/layers/pairs/layer_graph.h"

#include <algorithm>
#include <unordered_map>

#include "btf/try.h"
#include "formats/onnx/graph.h"
#include "formats/open_source.h"

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

SeenInputs InputSearch::of(std::uint32_t value) {
  ++question_;
  SeenInputs found;
  std::vector<std::uint32_t> open = graph_.values[value].inputs;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (seen_[at] == question_) continue;
    seen_[at] = question_;
    if (layer_of_[at] != kNoLayer) {
      found.layers.push_back(layer_of_[at]);
      continue;
    }
    const GraphValue& unseen = graph_.values[at];
    // Weights that stand in nodes of their own are known.
    if (!unseen.op.empty() && unseen.op != "Constant") found.unseen.push_back(at);
    open.insert(open.end(), unseen.inputs.begin(), unseen.inputs.end());
  }
  std::ranges::sort(found.layers);
  std::ranges::sort(found.unseen);
  return found;
}

}  // namespace btf
