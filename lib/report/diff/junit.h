// The JUnit report: a suite for each pair of files, and a case for each tensor.
#pragma once

#include <memory>

#include "btf/report.h"

namespace btf::report {

std::unique_ptr<DiffReport> junit_report(ReportOptions options, TextSink sink);

}  // namespace btf::report
