// JUnit: a case for each layer.
#pragma once

#include "btf/error.h"
#include "layers/layers_run.h"

namespace btftool {

btf::Status write_layers_junit(const std::string& path, const LayersRun& run);

}  // namespace btftool
