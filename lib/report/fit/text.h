// The text report of fit, texts that the page shares, and lists for other tools.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "btf/fit.h"
#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// "2 of 10 layers must stay float32; 1 cannot be judged"
std::string verdict_words(const FitOfType& type);

// "its result has numbers up to 1e+05; above 32752 they may overflow"
std::string reason_words(const FitFinding& finding, const FitOfType& type);

// The same, with the number of dumps that show it, if there are several.
std::string finding_words(const FitFinding& finding, const FitOfType& type, std::size_t dumps);

// "output 'y': an error of about 1e-3 (...)"
std::string output_words(const FitOutput& output, const FitOfType& type);

// Returns true if the dtype cannot represent the values of a tensor well: some become Inf, or
// rounding is off by more than so many times the unit roundoff of the type.
inline constexpr double kPoorSteps = 8;
bool is_poor(const FitTensor& tensor, const FitOfType& type);

// "0.39%", "3e-05"
std::string part_words(double part);

// "1.2e+05"
std::string size_words(double size);

// "about 1e-3"
std::string magnitude_words(double error);

// "33.7 dB", "exact", "none"
std::string decibel_words(double snr);

// The part of the nonzero numbers that is lost: "12%".
std::string lost_words(const FitScaledTensor& tensor, const FitScale& scale);

// Returns true if one scale is good enough for the tensor.
bool is_held(const FitScaledTensor& tensor);

std::string scales_text(const FitOfScales& type, const TextOptions& options);
Json scales_json(const FitOfScales& type);

// An item of "tensors" and of "layers" of a type in JSON.
Json tensor_json(const FitTensor& tensor);
Json layer_json(const FitLayer& layer, const FitOfType& type);

// Write and read one tensor of the JSON of scales.
Json scaled_tensor_json(const FitScaledTensor& tensor);
FitScaledTensor read_scaled_tensor(const JsonNode& node);

}  // namespace btf::report
