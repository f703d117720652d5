// The options of inspect, repair, and of a command that is run in parts. Only this folder includes
// it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cli/support.h"

namespace btftool {

// The options of a command that is run in parts. Only this folder includes it.

// --shard, --part, --resume
void declare_part(CLI::App& app, std::optional<PartOptions>& part);

// --shard-by
void declare_shard_by(CLI::App& app, std::optional<PartOptions>& part);

// Checks these, and keeps what else was given to the command: a part says how it was made.
// `reports`: options that merge has instead.
void finish_part(const CLI::App& app, const std::vector<std::string>& operands,
                 std::initializer_list<const char*> reports, std::optional<PartOptions>& part);

}  // namespace btftool
