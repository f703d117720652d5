// The measures of an item by one process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/measure/node_variants.h"
#include "fit/scales/scaled_types.h"

namespace btf {

struct FitMeasures {
  // In one type.
  struct OfType {
    std::vector<ValueNoise> values;      // of the item, in their order
    std::optional<NodeVariants> node{};  // of a layer
    std::string trouble{};               // without a network: why it cannot be read
  };
  // The measures of one dump; without a network those of one tensor of the name.
  struct OfRun {
    std::vector<OfType> types;
    std::vector<UniformGains> gains{};  // of a layer: by type with scales
  };
  std::vector<OfRun> runs;
  std::vector<ScaledMeasure> scales{};  // by value; of those without scales empty
};

}  // namespace btf
