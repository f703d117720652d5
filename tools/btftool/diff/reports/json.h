// The schema btftool/diff/1.
#pragma once

#include <memory>

#include "cli/options.h"
#include "diff/reports/report.h"
#include "io/json.h"
#include "io/output.h"

namespace btftool {

Json json_tensor_diff(const btf::TensorDiff& diff);

std::unique_ptr<DiffReport> json_report(Output& out, const DiffCommand& command, bool directories);

}  // namespace btftool
