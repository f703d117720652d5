// inspect --image: one tensor as a picture, in a file or in the terminal.
#pragma once

#include "btf/error.h"
#include "io/context.h"

namespace btftool {

btf::Result<int> inspect_image(const Context& context, const InspectOptions& options);

}  // namespace btftool
