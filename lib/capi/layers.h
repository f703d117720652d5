// The C interface to layers, and the formats of reports by their names.
#pragma once

#include <string>
#include <vector>

#include "btf/btf.h"
#include "btf/error.h"
#include "btf/report.h"
#include "btf/tensor_set.h"

namespace btf::capi {

// Reports of comparisons and of layers: formats by their names, and options of text.

Result<ReportFormat> report_format_named(const char* name);

Result<TextOptions> text_options_of(const btf_text_options* options);

// Paths of the files beside the tensors of both.
std::vector<std::string> paths_of_others(const TensorSet& actual, const TensorSet& golden);

}  // namespace btf::capi
