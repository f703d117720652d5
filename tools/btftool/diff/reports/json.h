// The report of diff --json, in one of its schemas.
#pragma once

#include <memory>

#include "cli/options.h"
#include "diff/reports/report.h"
#include "io/json.h"
#include "io/output.h"

namespace btftool {

// "btftool/diff/2"
std::string schema_name(JsonSchema schema);

Json json_tensor_diff(const btf::TensorDiff& diff, JsonSchema schema);

std::unique_ptr<DiffReport> json_report(Output& out, const DiffCommand& command, bool directories);

}  // namespace btftool
