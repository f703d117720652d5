// A report of `btftool layers --json`, read back.
#pragma once

#include <string>

#include "btf/error.h"
#include "layers/layers_run.h"

namespace btftool {

// "-" is stdin. Whatever the file holds: figures and order, which are judged anew, or an error that
// names the member which is wrong.
btf::Result<LayersRun> read_saved_layers(const std::string& path);
// Of the file's content.
btf::Result<LayersRun> parse_saved_layers(const std::string& text);

}  // namespace btftool
