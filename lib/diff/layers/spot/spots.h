// Spot checks of all layers: a few hundred elements of each are recomputed from its own inputs.
#pragma once

#include "btf/error.h"
#include "btf/layers/layers.h"
#include "btf/layers/share.h"
#include "btf/tensor_set.h"
#include "diff/layers/pairs/measured_pairs.h"

namespace btf {

// Sets `spot` of the report's layers. By the graph of the options; the sets are those that were
// paired. `share`: what shards have found of layers, by their numbers, or nullptr. An error: a
// model cannot be read, or the caller has asked to stop. Whatever else is in the way of a layer's
// check is said there.
Status check_spots(TensorSet& actual, TensorSet& golden, const PairedLayers& paired,
                   const LayerOptions& options, LayerShare* share, LayerReport& report);

}  // namespace btf
