// The text report of fit, texts that the page shares, and lists for other tools.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "btf/fit.h"
#include "btf/report.h"
#include "report/text/fields.h"

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
// its rounding error exceeds kPoorSteps times the unit roundoff of the type.
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

// An item of "tensors" and of "layers" of a type in JSON.
Json tensor_json(const FitTensor& tensor);
Json layer_json(const FitLayer& layer, const FitOfType& type);

// The JSON of the scales that were found for a tensor, which parts have too.

template <>
inline constexpr auto kNames<FitScaling> = btf::fit_scalings;
template <>
inline constexpr auto kNames<FitScaleMethod> = btf::fit_scale_methods;

template <>
struct Fields<FitOutlier> {
  static void visit(auto& fields, auto& outlier) {
    fields("channel", outlier.channel);
    fields("largest", outlier.largest);
    fields("median", outlier.median);
    fields("snr", outlier.snr);
  }
};

template <>
struct Fields<FitChannels> {
  static void visit(auto& fields, auto& channels) {
    fields("axis", channels.axis);
    fields("count", channels.count);
    fields("snr", channels.snr);
    fields("gain", channels.gain);
    fields("outlier", channels.outlier);
  }
};

template <>
struct Fields<FitScale> {
  static void visit(auto& fields, auto& scale) {
    fields("method", scale.method);
    fields("scale", scale.scale);
    fields("snr", scale.snr);
    fields("clipped", scale.clipped);
    fields("lost", scale.lost);
  }
};

template <>
struct Fields<FitScaledTensor> {
  static void visit(auto& fields, auto& tensor) {
    fields("name", tensor.name);
    fields("weight", tensor.weight);
    fields("elements", tensor.elements);
    fields("nan", tensor.nan);
    fields("inf", tensor.infinite);
    fields("zeros", tensor.zeros);
    fields.amount("largest", tensor.largest);
    fields.amount("rms", tensor.rms);
    fields("state", tensor.state);
    fields.derived("best", [&] {
      return tensor.scales.empty() ? Json() : json_of(tensor.scales[tensor.best].method);
    });
    fields("scales", tensor.scales);
    if constexpr (kReads<decltype(fields)>) read_best(fields.node()["best"], tensor);
    fields("channels", tensor.channels);
  }

 private:
  static void read_best(const JsonNode& node, FitScaledTensor& tensor) {
    if (node.null() && tensor.scales.empty()) return;
    const std::string best = node.null() ? std::string() : node.text();
    for (std::size_t i = 0; i < tensor.scales.size(); ++i)
      if (fit_scale_method_name(tensor.scales[i].method) == best) {
        tensor.best = i;
        return;
      }
    node.fail("is none of the scales");
  }
};

}  // namespace btf::report
