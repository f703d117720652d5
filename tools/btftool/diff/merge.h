// The reports of a comparison whose shards have made parts.
#pragma once

#include <span>
#include <string>

#include "btf/shards/part.h"
#include "io/context.h"

namespace btftool {

// `command`: the one that made the parts, with the reports that are asked for. `paths`: of the
// parts, which no report may take the place of.
btf::Result<int> merge_diff(const Context& context, const btf::Parts& parts,
                            std::span<const std::string> paths, DiffCommand& command);

}  // namespace btftool
