// A report for CI: a suite a pair of files, a case a tensor.
#pragma once

#include <memory>

#include "cli/options.h"
#include "diff/reports/report.h"

namespace btftool {

std::unique_ptr<DiffReport> junit_report(const DiffCommand& command);

}  // namespace btftool
