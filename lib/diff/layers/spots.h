// The spot checks of a whole run, from the first checks (first_checks.h) to the state of each
// layer: in which precision the run was computed, which layers follow from their inputs, and, by
// own_error.h, whether what is off is a fault of the layer or of its dump.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/layers.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"

namespace btf {

// The facts about a layer that follows from its inputs.
struct OwnSample {
  bool product = false;
  bool moves = false;    // its operator rounds nothing
  std::string window{};  // "3 x 3", of a convolution; else empty
  double own_error = 0;
  std::uint32_t bits = 0;  // significant bits that its numbers use
  bool codes = false;      // only 8-bit codes explain it
};

// "products in bfloat16, sums and the rest in float32 (from 61 layers)"; empty if nothing is known.
std::string arithmetic_text(const std::vector<OwnSample>& layers);

// Spot checks of all layers: recomputes a few hundred elements of each from its own inputs, by the
// graph of the options, and sets `spot` of the report's layers. The sets are those that were
// paired. `share`: what shards have found, by the numbers of layers, or nullptr. Fails if a model
// cannot be read or the caller has cancelled; any other obstacle to the check of a layer is noted
// in its `spot`.
Status check_spots(TensorSet& actual, TensorSet& golden, const PairedLayers& paired,
                   const LayerOptions& options, LayerShare* share, LayerReport& report);

}  // namespace btf
