// "btftool/layers/1"
#pragma once

#include <functional>
#include <string_view>

#include "layers/layers_run.h"

namespace btftool {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

// The document, with a newline, piece by piece: there may be very many layers.
void write_layers_json(const LayersRun& run, const std::function<void(std::string_view)>& write);

}  // namespace btftool
