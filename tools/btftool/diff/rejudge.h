// btftool diff --from-json: a saved report judged by other limits.
#pragma once

#include "io/context.h"

namespace btftool {

btf::Result<int> run_rejudge(const Context& context, const DiffCommand& command);

}  // namespace btftool
