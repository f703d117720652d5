// Reads the JSON report of a comparison back and checks it.
#pragma once

#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// Reads a pair of files without its tensors. `name` is the member with the name of the pair.
SetDiffResult::Pair saved_pair(const JsonNode& node, const char* name);

// Reads a member of `tensors`. Inconsistent values (an index beyond its dim, a code beyond its
// dtype) are errors like wrong types, so that the result can be used like one of btf::diff().
TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema);

}  // namespace btf::report
