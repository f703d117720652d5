// "btftool/layers/1"
#pragma once

#include <string_view>

#include "io/json.h"
#include "layers/layers_run.h"

namespace btftool {

inline constexpr std::string_view kLayersSchema = "btftool/layers/1";

Json layers_json(const LayersRun& run);

}  // namespace btftool
