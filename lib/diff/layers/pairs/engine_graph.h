// The data flow of a TensorRT engine: fused layers are one, and what it does between two formats is
// looked through.
#pragma once

#include <string>

#include "btf/tensorrt/engine_list.h"
#include "btf/error.h"
#include "diff/layers/pairs/layer_graph.h"

namespace btf {

// Out of the list alone. Without tensors, as of an engine that was built without details, there are
// none.
LayerGraph graph_of(const EngineList& list);

// Puts the values of a model into the engine's order, and says what they are fused in. An error:
// the list has none of the model's nodes and tensors.
Status take_engine(const EngineList& list, LayerGraph& model);

}  // namespace btf
