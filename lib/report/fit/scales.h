// The report of types that take scales.
#pragma once

#include <string>

#include "btf/fit.h"
#include "btf/report/report.h"
#include "report/text/json.h"
#include "report/text/json_node.h"

namespace btf::report {

// "33.7 dB", "exact", "none"
std::string decibel_words(double snr);
// "12%" of the numbers that are not zero.
std::string lost_words(const FitScaledTensor& tensor, const FitScale& scale);
// Does one scale do?
bool is_held(const FitScaledTensor& tensor);

std::string scales_text(const FitOfScales& type, const TextOptions& options);
Json scales_json(const FitOfScales& type);
// A tensor of it, and read back.
Json scaled_tensor_json(const FitScaledTensor& tensor);
FitScaledTensor read_scaled_tensor(const JsonNode& node);
// "4 of 17 tensors are not held by one scale"
std::string scales_verdict(const FitOfScales& type);
// The part of the page.
std::string scales_section(const FitOfScales& type);

}  // namespace btf::report
