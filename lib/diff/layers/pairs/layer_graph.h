// The data flow of an ONNX model or of an engine, and the dumped tensors in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

// A tensor of the graph: an input, or what a node makes.
struct GraphValue {
  std::string name;
  std::string op;                     // of its node
  std::vector<std::uint32_t> inputs;  // values; weights are none
  bool input = false;                 // of the graph
  bool output = false;
  std::string node{};  // of a model: its node's name
  std::vector<std::string> aliases{};  // its names in other formats
  // With an engine: the layer that computes it, the model's nodes in that, and its coarsest type.
  std::string fused{};
  std::vector<std::string> nodes{};
  std::optional<DType> compute{};
};

struct LayerGraph {
  std::vector<GraphValue> values;  // in order of execution
};

Result<LayerGraph> read_layer_graph(const std::string& path);

// The dumped values (`layer_of`: a layer's number for each value, or kNoLayer) that a value is
// computed from, across values that were not dumped.
struct SeenInputs {
  std::vector<std::uint64_t> layers;
  std::vector<std::uint32_t> unseen;  // values on the way
};

inline constexpr std::uint64_t kNoLayer = UINT64_MAX;

class InputSearch {
 public:
  InputSearch(const LayerGraph& graph, std::span<const std::uint64_t> layer_of)
      : graph_(graph), layer_of_(layer_of), seen_(graph.values.size(), 0) {}

  SeenInputs of(std::uint32_t value);

 private:
  const LayerGraph& graph_;
  std::span<const std::uint64_t> layer_of_;
  std::vector<std::uint32_t> seen_;  // by which question
  std::uint32_t question_ = 0;
};

}  // namespace btf
