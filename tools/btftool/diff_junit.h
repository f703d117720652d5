// A report for CI: a suite a pair of files, a case a tensor.
#pragma once

#include <memory>

#include "diff_report.h"
#include "options.h"

namespace btftool {

std::unique_ptr<DiffReport> junit_report(const DiffCommand& command);

}  // namespace btftool
