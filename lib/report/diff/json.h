// The report of diff --json, in one of its schemas.
#pragma once

#include <memory>

#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// "btftool/diff/2"
std::string schema_name(JsonSchema schema);

Json json_tensor_diff(const TensorDiff& diff, JsonSchema schema);

std::unique_ptr<DiffReport> json_report(ReportOptions options, TextSink sink);

// Adds the differences of the files that are not in their tensors, if there are any.
void add_file_differences(const FileDifferences& files, Json& object);

}  // namespace btf::report
