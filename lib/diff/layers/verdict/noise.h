// Relative errors of half a step that the arithmetic of a dtype explains.
#pragma once

#include <optional>
#include <string>

#include "btf/layers/layers.h"

namespace btf {

// The precision that the run computes in, as far as it can be inferred.
struct RunPrecision {
  double unit_roundoff = 0;   // of floats
  bool grid = false;          // numbers lie on grids of a few hundred values: quantised
  std::string source;         // "float16", "`judge.compute` int8", "bits of float16 in float32"
  bool guessed_grid = false;  // by the size of errors alone
};

// Of a run whose tensors are what codes stand for: "8-bit codes of a quantised model (7 layers)".
std::string codes_text(const LayerReport& report);

RunPrecision run_precision(const LayerReport& report, const JudgeLayers& options);

// The dtype that a layer is computed in, as it is said: by a rule, for all, or by the engine's list.
std::optional<DType> computed_in(const Layer& layer, const JudgeLayers& options);

// The next coarser one that a half step of `u`, seen in this layer, fits to. Nothing: none does, or
// it is said what the run computes in.
std::optional<RunPrecision> coarser_than(const RunPrecision& run, const Layer& layer, double u,
                                         const JudgeLayers& options);

// The unit roundoff of one layer.
double layer_u(const Layer& layer, const RunPrecision& run, const JudgeLayers& options);

// Is the grid of actual's numbers coarser than a float's own steps of 2u at a number like `peak`?
bool is_coarser(const LayerFigures& figures, double peak, double u);

// Do its numbers have no distances, as those of masks and indices?
bool is_counted(const Layer& layer);

// Do the errors of a baseline say what is usual, of every layer that was measured?
bool is_by_baseline(const LayerReport& report);

}  // namespace btf
