#include <algorithm>

#include "report/fit/scales.h"

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

}  // namespace btf::report
