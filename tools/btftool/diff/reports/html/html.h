// One HTML page about what a comparison found: a single file without scripts, nothing is loaded.
#pragma once

#include <memory>

#include "cli/options.h"
#include "diff/reports/report.h"

namespace btftool {

// Written to command.html at the end. The page stays small enough to read: all tensors are rows of
// a table up to a bound, the first different ones have a section each, and it says what was left
// out.
std::unique_ptr<DiffReport> html_report(const DiffCommand& command, bool directories);

}  // namespace btftool
