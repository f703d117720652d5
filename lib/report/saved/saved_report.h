// A report of a comparison in JSON, read back and checked.
#pragma once

#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// A pair of files in a saved report, without its tensors.

// `name`: the member that has the pair's name.
SetDiffResult::Pair saved_pair(const JsonNode& node, const char* name);

// A member of `tensors` in a report of diff --json, back as what it was written from.

// Inconsistent values (an index beyond its dim, a code beyond its dtype) fail like a wrong type, so
// that the result is as good as one of btf::diff().
TensorDiff saved_tensor(const JsonNode& node, JsonSchema schema);

}  // namespace btf::report
