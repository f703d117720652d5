// A member of `tensors` in a report of diff --json, back as what it was written from.
#pragma once

#include "btf/diff.h"
#include "cli/options.h"
#include "io/json_node.h"

namespace btftool {

// What does not fit together (an index beyond its dim, a code beyond its dtype) fails as a wrong
// type does, so that the result can be used as one of btf::diff().
btf::TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema);

}  // namespace btftool
