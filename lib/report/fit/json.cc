// The JSON report of fit, "btftool/fit/1".
#include "report/text/json.h"

#include <algorithm>

#include "btf/report.h"
#include "report/fit/text.h"

namespace btf::report {
namespace {

Json channels_json(const FitChannels& channels) {
  Json json{{"axis", json_number(std::uint64_t{channels.axis})},
            {"count", json_number(channels.count)},
            {"snr", json_number(channels.snr)},
            {"gain", json_number(channels.gain)},
            {"outlier", Json()}};
  if (channels.outlier)
    json["outlier"] = {{"channel", json_number(channels.outlier->channel)},
                       {"largest", json_number(channels.outlier->largest)},
                       {"median", json_number(channels.outlier->median)},
                       {"snr", json_number(channels.outlier->snr)}};
  return json;
}

FitChannels read_channels(const JsonNode& node) {
  FitChannels channels{.axis = static_cast<std::uint32_t>(node["axis"].integer(0, UINT32_MAX)),
                       .count = node["count"].count(),
                       .snr = node["snr"].number(),
                       .gain = node["gain"].number()};
  const JsonNode outlier = node["outlier"];
  if (!outlier.null())
    channels.outlier = {.channel = outlier["channel"].count(),
                        .largest = outlier["largest"].number(),
                        .median = outlier["median"].number(),
                        .snr = outlier["snr"].number()};
  return channels;
}

template <typename T>
T read_named(const JsonNode& node, std::span<const Named<T>> names) {
  const auto row = std::ranges::find(names, node.text(), &Named<T>::name);
  if (row != names.end()) return row->value;
  node.fail("is none of the words for it");
  return {};
}

}  // namespace

Json scaled_tensor_json(const FitScaledTensor& tensor) {
  Json json{{"name", tensor.name},
            {"weight", tensor.weight},
            {"elements", json_number(tensor.elements)},
            {"nan", json_number(tensor.nan)},
            {"inf", json_number(tensor.infinite)},
            {"zeros", json_number(tensor.zeros)},
            {"largest", json_number(tensor.largest)},
            {"rms", json_number(tensor.rms)},
            {"state", std::string(fit_scaling_name(tensor.state))},
            {"best", Json()},
            {"scales", Json::array()},
            {"channels", tensor.channels ? channels_json(*tensor.channels) : Json()}};
  if (!tensor.scales.empty())
    json["best"] = std::string(fit_scale_method_name(tensor.scales[tensor.best].method));
  for (const FitScale& scale : tensor.scales)
    json["scales"].push_back({{"method", std::string(fit_scale_method_name(scale.method))},
                              {"scale", json_number(scale.scale)},
                              {"snr", json_number(scale.snr)},
                              {"clipped", json_number(scale.clipped)},
                              {"lost", json_number(scale.lost)}});
  return json;
}

FitScaledTensor read_scaled_tensor(const JsonNode& node) {
  FitScaledTensor tensor{.name = node["name"].text(),
                         .weight = node["weight"].flag(),
                         .elements = node["elements"].count(),
                         .nan = node["nan"].count(),
                         .infinite = node["inf"].count(),
                         .zeros = node["zeros"].count(),
                         .largest = node["largest"].amount(),
                         .rms = node["rms"].amount(),
                         .state = read_named(node["state"], fit_scalings()),
                         .scales = {}};
  node["scales"].each([&](const JsonNode& scale) {
    tensor.scales.push_back({.method = read_named(scale["method"], fit_scale_methods()),
                             .scale = scale["scale"].number(),
                             .snr = scale["snr"].number(),
                             .clipped = scale["clipped"].count(),
                             .lost = scale["lost"].count()});
  });
  if (!node["best"].null()) {
    const FitScaleMethod best = read_named(node["best"], fit_scale_methods());
    const auto row = std::ranges::find(tensor.scales, best, &FitScale::method);
    if (row == tensor.scales.end()) node["best"].fail("is none of the scales");
    tensor.best = static_cast<std::size_t>(row - tensor.scales.begin());
  } else if (!tensor.scales.empty()) {
    node["best"].fail("is none of the scales");
  }
  if (!node["channels"].null()) tensor.channels = read_channels(node["channels"]);
  return tensor;
}

Json scales_json(const FitOfScales& type) {
  Json json{{"dtype", std::string(info(type.dtype).name)},
            {"least_snr", json_number(kFitLeastSnr)},
            {"most_lost", json_number(kFitMostLost)},
            {"unjudged", json_number(type.unjudged)},
            {"tensors", Json::array()},
            {"layers", Json::array()},
            {"outputs", Json::array()}};
  for (const FitScaledTensor& tensor : type.tensors)
    json["tensors"].push_back(scaled_tensor_json(tensor));
  for (const FitScaledLayer& layer : type.layers)
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"error", json_number(layer.error)},
                              {"share", json_number(layer.share)}});
  for (const FitScaledOutput& output : type.outputs)
    json["outputs"].push_back({{"name", output.name}, {"error", json_number(output.error)}});
  return json;
}

namespace {

constexpr std::string_view kFitSchema = "btftool/fit/1";

Json text_or_none(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Json tensor_json(const FitTensor& tensor) {
  return {{"name", tensor.name},
          {"weight", tensor.weight},
          {"elements", json_number(tensor.elements)},
          {"nan", json_number(tensor.nan)},
          {"inf", json_number(tensor.infinite)},
          {"largest", json_number(tensor.largest)},
          {"smallest", json_number(tensor.smallest)},
          {"rms", json_number(tensor.rms)},
          {"margin", json_number(tensor.margin)},
          {"error", json_number(tensor.error)},
          {"beyond", json_number(tensor.beyond)},
          {"lost", json_number(tensor.lost)}};
}

Json layer_json(const FitLayer& layer, const FitOfType& type) {
  Json json{{"name", layer.name},
            {"named", layer.named},
            {"op", layer.op},
            {"outputs", layer.outputs},
            {"state", std::string(fit_state_name(layer.state))},
            {"findings", Json::array()},
            {"why", text_or_none(layer.why)}};
  for (const FitFinding& finding : layer.findings)
    json["findings"].push_back({{"reason", std::string(fit_reason_name(finding.reason))},
                                {"tensor", text_or_none(finding.tensor)},
                                {"layer", text_or_none(finding.layer)},
                                {"number", json_number(finding.number)},
                                {"limit", json_number(finding.limit)},
                                {"dumps", json_number(finding.dumps)},
                                {"words", reason_words(finding, type)}});
  return json;
}

namespace {

Json type_json(const FitOfType& type) {
  Json json{{"dtype", std::string(info(type.dtype).name)},
            {"largest", json_number(type.largest)},
            {"smallest", json_number(type.smallest)},
            {"unit_roundoff", json_number(type.unit_roundoff)},
            {"wide", json_number(type.wide)},
            {"unjudged", json_number(type.unjudged)},
            {"layers", Json::array()},
            {"outputs", Json::array()},
            {"tensors", Json::array()}};
  for (const FitLayer& layer : type.layers) json["layers"].push_back(layer_json(layer, type));
  for (const FitOutput& output : type.outputs)
    json["outputs"].push_back({{"name", output.name},
                               {"narrow_error", json_number(output.narrow)},
                               {"kept_error", json_number(output.kept)}});
  for (const FitTensor& tensor : type.tensors) json["tensors"].push_back(tensor_json(tensor));
  return json;
}

}  // namespace
}  // namespace btf::report

namespace btf {

std::string json(const FitReport& report) {
  using report::Json;
  using report::json_number;
  Json json{{"schema", report::kFitSchema},
            {"dumps", report.dumps},
            {"graph", report.graph ? Json(*report.graph) : Json()},
            {"fits", fits(report)},
            {"integers", json_number(report.integers)},
            {"unused", report.unused},
            {"types", Json::array()},
            {"scaled", Json::array()}};
  for (const FitOfScales& type : report.scaled) json["scaled"].push_back(report::scales_json(type));
  for (const FitOfType& type : report.types) json["types"].push_back(report::type_json(type));
  return report::dump(json) + "\n";
}

}  // namespace btf
