// The options of commands that can be run in shards.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cli/support.h"

namespace btftool {

// --shard, --part, --resume
void declare_part(CLI::App& app, std::optional<PartOptions>& part);

// --shard-by
void declare_shard_by(CLI::App& app, std::optional<PartOptions>& part);

// Checks these, and stores the other options of the command in `part`, as the file of results
// records how it was made. `reports` are options that cannot be combined with --part, because merge
// has them. Throws OptionError.
void finish_part(const CLI::App& app, const std::vector<std::string>& operands,
                 std::initializer_list<const char*> reports, std::optional<PartOptions>& part);

}  // namespace btftool
