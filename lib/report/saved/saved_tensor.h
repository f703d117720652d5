// A member of `tensors` in a report of diff --json, back as what it was written from.
#pragma once

#include "btf/report/report.h"
#include "report/text/json_node.h"

namespace btf::report {

// Inconsistent values (an index beyond its dim, a code beyond its dtype) fail like a wrong type, so
// that the result is as good as one of btf::diff().
TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema);

}  // namespace btf::report
