// The words for what is found of layers.
#pragma once

#include <string>

#include "btf/fit.h"

namespace btf::report {

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

}  // namespace btf::report
