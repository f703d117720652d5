// Which tensors of two sets are one layer, and what is measured of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/layers/layers.h"
#include "btf/layers/share.h"
#include "convert/file_conversion.h"
#include "diff/layers/order.h"

namespace btf {

// A tensor of a set, by the name that it has there.
struct NamedDump {
  std::string name;
  SetTensor tensor;
  std::optional<std::uint64_t> layer{};  // its number, if it is one of a pair
  bool beside = false;                   // another form of what is compared
};

struct PairedLayers {
  std::vector<LayerPlace> places;  // of report.layers
  std::vector<SetTensor> actual;   // likewise: which tensors they are
  std::vector<SetTensor> golden;
  // Likewise: actual are codes whose scale nothing says, golden are numbers.
  std::vector<bool> codes{};
  std::vector<std::string> unread{};  // layers that have no figures since they could not be read
  std::vector<NamedDump> actual_dumps{};  // all that are there, if a graph asks for them
  std::vector<NamedDump> golden_dumps{};
  std::vector<ActualOnly> actual_rest{};
  MapUse map;
  QuantisedStore store = QuantisedStore::none;
  bool actual_scaled = false;  // a tensor of it is codes that have a scale
  bool golden_scaled = false;
  SetScales actual_set_scales{};  // where scales are asked for
  SetScales golden_set_scales{};

  // The scale of a side's member: from the options, else from the set.
  Result<std::optional<GivenScale>> given_scale(const LayerOptions& options, const TensorSet& set,
                                                std::uint64_t member, bool of_actual) const;
};

// Which pairs are measured, and what is known of the others.
struct Measuring {
  LayerShare* share = nullptr;  // nullptr: all are measured
  std::uint64_t first = 0;      // number of the first pair there
  // Where none is measured: what there is.
  std::vector<PlannedLayer>* plan = nullptr;
};

// Fills report.layers with pairs, measured, and with what only golden has.
Result<PairedLayers> pair_and_measure(TensorSet& actual, TensorSet& golden,
                                      const LayerOptions& options, const Measuring& measuring,
                                      LayerReport& report);

}  // namespace btf
