// The report on the screen: the verdict first.
#pragma once

#include "io/context.h"
#include "layers/layers_run.h"

namespace btftool {

void print_layers(const Context& context, const LayersCommand& command, const LayersRun& run);

}  // namespace btftool
