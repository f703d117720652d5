// The report of fit in text, its words, its tables, and the lists for other tools.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "btf/fit.h"
#include "btf/report.h"
#include "report/text/json.h"

namespace btf::report {

// The words for what is found of layers.

// The verdict on layers: "2 of 10 layers must stay float32; 1 cannot be judged"
std::string verdict_words(const FitOfType& type);

// "its result has numbers up to 1e+05; above 32752 they may overflow"
std::string reason_words(const FitFinding& finding, const FitOfType& type);

// With how many of several dumps say so.
std::string finding_words(const FitFinding& finding, const FitOfType& type, std::size_t dumps);

// "output 'y': an error of about 1e-3 (...)"
std::string output_words(const FitOutput& output, const FitOfType& type);

// Do the numbers of a tensor suffer from the type, whatever reads them?
bool is_poor(const FitTensor& tensor, const FitOfType& type);

// "0.39%", "3e-05"
std::string part_words(double part);

// "1.2e+05"
std::string size_words(double size);

// "about 1e-3"
std::string magnitude_words(double error);

// Tables of the page.

// `all`: rows that there are; more than kMaxRows are said not to be listed.
std::string html_table(std::string_view head, const std::string& rows, std::size_t all,
                       std::string_view kind = "");

// Behind a line that has their number; a few are shown at once.
std::string html_folded(std::size_t count, std::string_view what, const std::string& table);

// The report of types that take scales.

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
