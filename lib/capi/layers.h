// What the C interfaces of comparisons and of layers share: report formats by their names, options
// of text reports.
#pragma once

#include <string>
#include <vector>

#include "btf/btf.h"
#include "btf/error.h"
#include "btf/report.h"
#include "btf/tensor_set.h"

namespace btf::capi {

Result<ReportFormat> report_format_named(const char* name);

Result<TextOptions> text_options_of(const btf_text_options* options);

// Paths of the files in both sets that are not tensor files.
std::vector<std::string> paths_of_others(const TensorSet& actual, const TensorSet& golden);

}  // namespace btf::capi
