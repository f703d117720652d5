// The order of execution, and what each layer is computed from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

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
