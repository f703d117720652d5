// The report on the terminal, which never fills more than a screen unless that is asked for; and
// the one with a line a pair of files.
#pragma once

#include <memory>

#include "cli/options.h"
#include "diff/reports/report.h"
#include "io/output.h"

namespace btftool {

std::unique_ptr<DiffReport> screen_report(Output& out, const DiffCommand& command,
                                          bool directories);
std::unique_ptr<DiffReport> summary_report(Output& out, const DiffCommand& command);

}  // namespace btftool
