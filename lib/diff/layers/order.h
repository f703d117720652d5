// The order of execution, and the data flow where a model or an engine describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layers.h"
#include "btf/tensorrt.h"

namespace btf {

// A tensor of an ONNX model or of an engine: an input of the graph, or the output of a node.
struct GraphValue {
  std::string name;
  std::string op;                     // operator of the node
  std::vector<std::uint32_t> inputs;  // values; weights are not included
  bool input = false;                 // of the graph
  bool output = false;
  std::string node{};                  // name of the model's node
  std::vector<std::string> aliases{};  // names in other formats
  // With an engine: the layer that computes the value, the model's nodes in it, and its coarsest
  // type.
  std::string fused{};
  std::vector<std::string> nodes{};
  std::optional<DType> compute{};
};

// Names and links alone; lib/network has a model as a computation.
struct LayerGraph {
  std::vector<GraphValue> values;  // in order of execution
};

Result<LayerGraph> read_layer_graph(const std::string& path);

// The dumped layers that a value is computed from, found across values that were not dumped.
struct DumpedInputs {
  std::vector<std::uint64_t> layers;
  std::vector<std::uint32_t> unseen;  // values in between that were not dumped
};

inline constexpr std::uint64_t kNoLayer = UINT64_MAX;

// `layer_of`: a layer's number for each value, or kNoLayer.
class InputSearch {
 public:
  InputSearch(const LayerGraph& graph, std::span<const std::uint64_t> layer_of)
      : graph_(graph), layer_of_(layer_of), seen_(graph.values.size(), 0) {}

  DumpedInputs of(std::uint32_t value);

 private:
  const LayerGraph& graph_;
  std::span<const std::uint64_t> layer_of_;
  std::vector<std::uint32_t> seen_;  // the number of the last search that visited the value
  std::uint32_t search_id_ = 0;
};

// The data flow of a TensorRT engine: a fused layer is one value, and reformats are skipped. It has
// no values if the list has no tensors, as that of an engine built without details.
LayerGraph graph_of(const EngineList& list);

// Orders the values of a model as the engine computes them, and records the layers that they are
// fused into. Fails if the list has none of the model's nodes and tensors.
Status apply_engine_order(const EngineList& list, LayerGraph& model);

// Where a layer is in each set, one for each layer of the report.
struct LayerPositions {
  std::optional<std::uint64_t> actual_recorded{};  // recorded by the set
  std::optional<std::uint64_t> golden_recorded{};
  std::uint64_t actual_stored = 0;  // position in its set
  std::uint64_t golden_stored = 0;
};

// Which side stores the tensors of a quantised model in order of execution, so that the forms of a
// tensor from which codes are computed precede those computed from codes. `shuffled`: a dump that
// lost this order when its names went through a Python set.
enum class QuantisedOrder : std::uint8_t { none, actual, golden, shuffled };

// A tensor that only actual has.
struct ActualOnly {
  std::string name;
  std::optional<std::uint64_t> recorded{};
  std::uint64_t stored = 0;
};

// How a side orders its tensors.
struct OrderedSide {
  std::string recorded_in{};  // the file with its recorded order
  bool keeps_order = false;   // tensors are in the order of their creation
};

OrderedSide ordered_side(const TensorSet& set);

// True if the set is one file of a format that keeps tensors in the order of their creation.
bool keeps_order(const TensorSet& set);

// Sorts `report.layers` and inserts `report.golden_only` between them; sets what the report says
// about the order and about inputs, and the outputs that only one side has. `rest`: tensors of
// actual without a partner.
Status order_layers(LayerReport& report, const std::vector<LayerPositions>& places,
                    const std::vector<ActualOnly>& rest, QuantisedOrder quantised_order,
                    const OrderedSide& actual, const OrderedSide& golden,
                    const LayerOptions& options);

}  // namespace btf
