// A pair of files in a saved report, without its tensors.
#pragma once

#include "btf/report/report.h"
#include "report/text/json_node.h"

namespace btf::report {

// `name`: the member that has the pair's name.
SetDiffResult::Pair saved_pair(const JsonNode& node, const char* name);

}  // namespace btf::report
