// "btftool/layers/1"
#pragma once

#include <string_view>

#include "io/output.h"
#include "layers/layers_run.h"

namespace btftool {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

void print_layers_json(Output& out, const LayersRun& run);

}  // namespace btftool
