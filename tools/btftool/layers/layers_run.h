// What a run of layers compared and found.
#pragma once

#include <string>

#include "btf/layers/layers.h"

namespace btftool {

struct LayersRun {
  std::string actual;  // paths
  std::string golden;
  btf::JudgeLayers judge;
  bool searched = false;  // causes were looked for
  btf::LayerReport report;
};

}  // namespace btftool
