// What is said of types that take scales.
#pragma once

#include <string>

#include "btf/fit.h"
#include "btf/report/report.h"
#include "report/text/json.h"

namespace btf::report {

std::string scales_text(const FitOfScales& type, const TextOptions& options);
Json scales_json(const FitOfScales& type);

}  // namespace btf::report
