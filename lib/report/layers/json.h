// btftool/layers/1: written, and read back.
#pragma once

#include <optional>
#include <string_view>

#include "btf/layers.h"
#include "report/text/json.h"

namespace btf::report {

// "btftool/layers/1"

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

// The members of a pair that are figures; null, where there are none.
void add_figures(Json& pair, const std::optional<LayerFigures>& figures);
LayerFigures read_figures(const JsonNode& pair);

}  // namespace btf::report
