// btftool diff, and the map of names that --map gives.
#pragma once

#include <string>

#include "btf/pair_names.h"
#include "io/context.h"

namespace btftool {

// A map of names that --map gives.

// One without a line that says something is warned of.
btf::Result<btf::NameMap> read_name_map(const Context& context, const std::string& path);

// Lines that pair nothing are warnings, a map of such lines is an error.
btf::Status check_map_use(const Context& context, const std::string& path, const btf::MapUse& use);

}  // namespace btftool
