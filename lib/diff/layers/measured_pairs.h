// Pairs the tensors of two sets to layers, and measures the pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/layers.h"
#include "convert/file_conversion.h"
#include "diff/layers/order.h"

namespace btf {

// A tensor of a set, by its name in the set.
struct NamedDump {
  std::string name;
  SetTensor tensor;
  std::optional<std::uint64_t> layer{};  // the layer that it belongs to, if it is paired
  bool beside = false;                   // another form of a tensor that is compared
};

struct PairedLayers {
  std::vector<LayerPositions> places;  // for each of report.layers
  std::vector<SetTensor> actual;       // tensors of report.layers
  std::vector<SetTensor> golden;
  // For each of report.layers: actual has codes of unknown scale, golden has numbers.
  std::vector<bool> codes{};
  std::vector<std::string> unread{};      // layers without figures because they could not be read
  std::vector<NamedDump> actual_dumps{};  // all tensors of the set, if a graph asks for them
  std::vector<NamedDump> golden_dumps{};
  std::vector<ActualOnly> actual_rest{};
  MapUse map;
  QuantisedOrder quantised_order = QuantisedOrder::none;
  bool actual_scaled = false;  // at least one of its tensors has codes with a scale
  bool golden_scaled = false;
  SetScales actual_set_scales{};  // if scales are requested
  SetScales golden_set_scales{};

  // The scale of a side's member: from the options, or else from the set.
  Result<std::optional<GivenScale>> given_scale(const LayerOptions& options, const TensorSet& set,
                                                std::uint64_t member, bool of_actual) const;
};

// Which pairs are measured, and what is already known about the others.
struct MeasurementScope {
  LayerShare* share = nullptr;  // nullptr: all pairs are measured
  std::uint64_t first = 0;      // the share's number of the first pair
  // If set, nothing is measured, and the pairs are added here.
  std::vector<PlannedLayer>* plan = nullptr;
};

// Fills report.layers with measured pairs and with the tensors that only golden has.
Result<PairedLayers> pair_and_measure(TensorSet& actual, TensorSet& golden,
                                      const LayerOptions& options, const MeasurementScope& scope,
                                      LayerReport& report);

}  // namespace btf
