// The options of repair.
#pragma once

#include "cli/options.h"
#include "cli/support.h"

namespace btftool {

void declare_repair(CLI::App& app, RepairCommand& command);
// Throws Wrong where options and operands contradict each other.
void finish_repair(RepairCommand& command);

}  // namespace btftool
