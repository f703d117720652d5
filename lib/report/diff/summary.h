// The report on the terminal, which never fills more than a screen unless that is asked for; and
// the one with a line a pair of files.
#pragma once

#include <memory>

#include "btf/report.h"

namespace btf::report {

std::unique_ptr<DiffReport> screen_report(ReportOptions options, TextSink sink);
std::unique_ptr<DiffReport> summary_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
