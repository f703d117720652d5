// The options of repair.
#pragma once

#include "cli_support.h"
#include "options.h"

namespace btftool {

void declare_repair(CLI::App& app, RepairCommand& command);
// Throws Wrong where options and operands contradict each other.
void finish_repair(RepairCommand& command);

}  // namespace btftool
