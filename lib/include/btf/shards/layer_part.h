// Parts of `layers`: what they hold of a pair is its figures, which are judged when all are there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layers/share.h"
#include "btf/shards/measured_items.h"
#include "btf/shards/part.h"

namespace btf {

struct LayerItem {
  std::uint64_t number = 0;  // of LayerShare::plan()
  std::string name{};        // golden's
  std::string actual_path{};
  std::string golden_path{};
  MeasuredLayer measured{};
};

// Without the states of its files.
BTF_API PartLine part_line(const LayerItem& item);
BTF_API Result<LayerItem> read_layer_item(std::string_view line);

// As items of a plan.
BTF_API std::vector<PlannedPair> plan_of(std::span<const PlannedLayer> layers);

// Those of all parts, for judge_measured().
using MeasuredLayers = MeasuredItems<PlannedLayer, MeasuredLayer>;

// `deciding`: as of plan_digest().
BTF_API Result<MeasuredLayers> read_measured_layers(const Parts& parts,
                                                    std::vector<std::string> deciding,
                                                    const Execution& execution = {});

}  // namespace btf
