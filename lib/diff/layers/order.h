// The order of execution, and the data flow where a model or an engine gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layers/layers.h"
#include "btf/tensorrt/engine_list.h"

namespace btf {

// The data flow of an ONNX model or of an engine, and the dumped tensors in it.

// A tensor of the graph: an input, or what a node makes.
struct GraphValue {
  std::string name;
  std::string op;                     // of its node
  std::vector<std::uint32_t> inputs;  // values; weights are none
  bool input = false;                 // of the graph
  bool output = false;
  std::string node{};                  // of a model: its node's name
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

// The data flow of a TensorRT engine: fused layers are one, and what it does between two formats is
// looked through.

// Out of the list alone. Without tensors, as of an engine that was built without details, there are
// none.
LayerGraph graph_of(const EngineList& list);

// Puts the values of a model into the engine's order, and says what they are fused in. An error:
// the list has none of the model's nodes and tensors.
Status take_engine(const EngineList& list, LayerGraph& model);

// The order of execution, and what each layer is computed from.

// Order information of a layer, one for each layer of the report.
struct LayerPlace {
  std::optional<std::uint64_t> actual_recorded{};  // what the set says
  std::optional<std::uint64_t> golden_recorded{};
  std::uint64_t actual_stored = 0;  // where it stands in its set
  std::uint64_t golden_stored = 0;
};

// The order in which a quantised side stores its tensors. What codes are made of stands before what
// they stand for where that is the order of execution; not in dumps whose names went through a set.
enum class QuantisedStore : std::uint8_t { none, actual, golden, shuffled };

// A tensor that only actual has.
struct ActualOnly {
  std::string name;
  std::optional<std::uint64_t> recorded{};
  std::uint64_t stored = 0;
};

// A side as its own order sees it.
struct OrderedSide {
  std::string recorded_in{};  // the file that its recorded order is from
  bool keeps_order = false;   // its tensors stand in the order of their creation
};

OrderedSide ordered_side(const TensorSet& set);

// True if the set is one file of a format that keeps tensors in the order of their creation.
bool keeps_order(const TensorSet& set);

// Sorts `report.layers`, and `report.golden_only` between them; sets what is said of the order and
// of inputs, and which outputs only one side has. `rest`: what no pair has of actual.
Status order_layers(LayerReport& report, const std::vector<LayerPlace>& places,
                    const std::vector<ActualOnly>& rest, QuantisedStore store,
                    const OrderedSide& actual, const OrderedSide& golden,
                    const LayerOptions& options);

}  // namespace btf
