// Which tensors of two sets are one layer, and what is measured of them.
#pragma once

#include <optional>
#include <vector>

#include "btf/diff.h"
#include "btf/layers/layers.h"
#include "convert/set_scales.h"
#include "diff/layers/order.h"

namespace btf {

struct PairedLayers {
  std::vector<LayerPlace> places;  // of report.layers
  std::vector<SetTensor> actual;   // likewise: which tensors they are
  std::vector<SetTensor> golden;
  MapUse map;
  bool actual_scaled = false;  // a tensor of it is codes that have a scale
  bool golden_scaled = false;
  SetScales actual_set_scales{};  // where scales are asked for
  SetScales golden_set_scales{};

  // The scale of a side's member: from the options, else from the set.
  Result<std::optional<GivenScale>> given_scale(const LayerOptions& options, const TensorSet& set,
                                                std::uint64_t member, bool of_actual) const;
};

// Fills report.layers with pairs, measured, and with what only golden has.
Result<PairedLayers> pair_and_measure(TensorSet& actual, TensorSet& golden,
                                      const LayerOptions& options, LayerReport& report);

}  // namespace btf
