// Spot checks of a whole run: what is asked of which layer, and what the run was computed in, as
// the own errors show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/layers/layers.h"
#include "btf/layers/share.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"

namespace btf {

// What a run was computed in, as the own errors of its layers show.

// A layer that follows from its inputs.
struct OwnSample {
  bool product = false;
  bool moves = false;    // its operator rounds nothing
  std::string window{};  // of a convolution: "3 x 3"; else empty
  double own_error = 0;
  std::uint32_t bits = 0;  // of a significand, that its numbers use
  bool codes = false;      // it is explained by 8-bit codes alone
};

// "products in bfloat16, sums and the rest in float32 (from 61 layers)". Empty: nothing tells.
std::string arithmetic_text(const std::vector<OwnSample>& layers);

// Spot checks of all layers: a few hundred elements of each are recomputed from its own inputs.

// Sets `spot` of the report's layers. By the graph of the options; the sets are those that were
// paired. `share`: what shards have found of layers, by their numbers, or nullptr. An error: a
// model cannot be read, or the caller has asked to stop. Whatever else is in the way of a layer's
// check is said there.
Status check_spots(TensorSet& actual, TensorSet& golden, const PairedLayers& paired,
                   const LayerOptions& options, LayerShare* share, LayerReport& report);

}  // namespace btf
