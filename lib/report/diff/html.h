// The HTML page of a comparison, a single file that loads nothing.
#pragma once

#include <memory>

#include "btf/report.h"

namespace btf::report {

// The size of the page is bounded: tensors are rows of a table up to a limit, and the first
// different ones have a section each. The page says what was left out.
std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
