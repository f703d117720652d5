// The text report of fit, texts and tables that the HTML page shares, and lists for other tools.
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

// Returns true if the dtype cannot represent the values of a tensor well.
bool is_poor(const FitTensor& tensor, const FitOfType& type);

// "0.39%", "3e-05"
std::string part_words(double part);

// "1.2e+05"
std::string size_words(double size);

// "about 1e-3"
std::string magnitude_words(double error);

// `all` is the number of rows. A note says how many beyond kMaxRows are not listed.
std::string html_table(std::string_view head, const std::string& rows, std::size_t all,
                       std::string_view kind = "");

// Folds a table behind a line that has the number of rows, unless there are only a few.
std::string html_folded(std::size_t count, std::string_view what, const std::string& table);

// "33.7 dB", "exact", "none"
std::string decibel_words(double snr);

// The part of the nonzero numbers that is lost: "12%".
std::string lost_words(const FitScaledTensor& tensor, const FitScale& scale);

// Returns true if one scale is good enough for the tensor.
bool is_held(const FitScaledTensor& tensor);

std::string scales_text(const FitOfScales& type, const TextOptions& options);
Json scales_json(const FitOfScales& type);

// Write and read one tensor of this JSON.
Json scaled_tensor_json(const FitScaledTensor& tensor);
FitScaledTensor read_scaled_tensor(const JsonNode& node);

// "4 of 17 tensors are not held by one scale"
std::string scales_verdict(const FitOfScales& type);

// Returns the section of the HTML page.
std::string scales_section(const FitOfScales& type);

}  // namespace btf::report
