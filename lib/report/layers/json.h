// Writes and reads the JSON report of layers, "btftool/layers/1".
#pragma once

#include <optional>
#include <string_view>

#include "btf/layers.h"
#include "report/text/json.h"

namespace btf::report {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

// Adds the members of a pair that are figures; they are null if `figures` is unset.
void add_figures(Json& pair, const std::optional<LayerFigures>& figures);
LayerFigures read_figures(const JsonNode& pair);

}  // namespace btf::report
