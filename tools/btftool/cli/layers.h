// The options of layers.
#pragma once

#include "cli/support.h"

namespace btftool {

void declare_layers(CLI::App& app, LayersCommand& command);

// Checks how options go together, and sets the operands. Throws OptionError.
void finish_layers(const CLI::App& app, LayersCommand& command,
                   const std::vector<std::string>& operands);

}  // namespace btftool
