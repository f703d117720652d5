// One pass over a pair of layers, by one thread and in bounded memory.
#pragma once

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layers/figures.h"
#include "diff/pairs/side.h"

namespace btf {

// Both sides have the same dims.
Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution);

}  // namespace btf
