// What a run of layers compared and found.
#pragma once

#include <string>
#include <vector>

#include "btf/layers/layers.h"

namespace btftool {

struct LayersRun {
  std::string actual;  // paths
  std::string golden;
  btf::JudgeLayers judge;
  bool searched = false;            // causes were looked for
  std::vector<std::string> scales;  // options that say what codes stand for, as they were written
  std::vector<std::string> others{};  // beside the tensors of both
  btf::LayerReport report;
};

}  // namespace btftool
