// The options of layers and fit. Only this folder includes it.
#pragma once

#include "cli/support.h"

namespace btftool {

// The options of layers. Only this folder includes it.

void declare_layers(CLI::App& app, LayersCommand& command);

// Checks what only shows once everything is parsed, and takes the operands.
void finish_layers(const CLI::App& app, LayersCommand& command,
                   const std::vector<std::string>& operands);

}  // namespace btftool
