// One HTML page about what a comparison found: a single file, nothing is loaded.
#pragma once

#include <memory>

#include "btf/report.h"

namespace btf::report {

// The page stays small enough to read: all tensors are rows of a table up to a bound, the first
// different ones have a section each, and it says what was left out.
std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
