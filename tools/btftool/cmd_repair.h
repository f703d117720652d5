// The command that takes apart what the others refuse, and what it is asked for.
#pragma once

#include <string>

#include "btf/repair.h"
#include "commands.h"
#include "options.h"

namespace btftool {

struct RepairCommand {
  std::string input;
  std::string output;
  bool json = false;
  bool all = false;
  btf::RepairOptions repair;
};

struct RepairInvocation {
  GlobalOptions global;
  RepairCommand command;
};

btf::Result<int> run_repair(const Context& context, const RepairCommand& command);

}  // namespace btftool
