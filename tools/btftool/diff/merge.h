// The reports of a comparison whose shards have made parts.
#pragma once

#include "btf/shards/part.h"
#include "io/context.h"

namespace btftool {

// `command`: the one that made the parts, with the reports that are asked for.
btf::Result<int> merge_diff(const Context& context, const btf::Parts& parts, DiffCommand& command);

}  // namespace btftool
