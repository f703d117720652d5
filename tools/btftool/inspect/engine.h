// inspect of a TensorRT engine's layer list: its tensors as a manifest would have them, without
// data.
#pragma once

#include <string>

#include "btf/error.h"
#include "io/context.h"

namespace btftool {

btf::Status inspect_engine(const Context& context, const InspectOptions& options,
                           const std::string& path);

}  // namespace btftool
