// The text report, which fits a screen unless more is asked for, and the report of --summary with
// one line for each pair of files.
#pragma once

#include <memory>

#include "btf/report.h"

namespace btf::report {

std::unique_ptr<DiffReport> screen_report(ReportOptions options, TextSink sink);
std::unique_ptr<DiffReport> summary_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
