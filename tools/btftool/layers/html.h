// The report as a page that needs nothing else: a chart along the layers, a table that can be
// sorted.
#pragma once

#include "btf/error.h"
#include "layers/layers_run.h"

namespace btftool {

btf::Status write_layers_html(const std::string& path, const LayersRun& run);

}  // namespace btftool
