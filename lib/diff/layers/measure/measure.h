// One pass over a pair of layers, by one thread and in bounded memory.
#pragma once

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layers/figures.h"
#include "diff/pairs/side.h"

namespace btf {

// Both sides have the same dims. `quantised`: steps of grids are looked for that have up to 65536
// values, not 256.
Result<LayerFigures> measure_layer(const DiffSide& actual, const DiffSide& golden,
                                   const Execution& execution, bool quantised = false);

}  // namespace btf
