// Writes and reads the JSON report of layers, "btftool/layers/1".
#pragma once

#include <optional>
#include <string_view>

#include "btf/layers.h"
#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

// Returns an item of "pairs".
Json layer_json(const LayerRun& run, const Layer& layer);

// Adds the members of a pair that are figures; they are null if `figures` is unset.
void add_figures(Json& pair, const std::optional<LayerFigures>& figures);
LayerFigures read_figures(const JsonNode& pair);

}  // namespace btf::report
