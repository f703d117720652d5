// What the arithmetic of a dtype explains: relative errors of a half step.
#pragma once

#include <string>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

// What the run computes in, as far as that can be told.
struct RunPrecision {
  double u = 0;        // of floats
  bool grid = false;   // numbers lie on grids of a few hundred values: quantised
  std::string source;  // "float16", "--compute int8", "bits of float16 in float32"
};

RunPrecision run_precision(const LayerReport& report, const JudgeLayers& options);

// Of one layer.
double layer_u(const Layer& layer, const RunPrecision& run, const JudgeLayers& options);

// Do its numbers have no distances, as those of masks and indices?
bool is_counted(const Layer& layer);

}  // namespace btf
