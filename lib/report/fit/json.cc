#include "report/text/json.h"

#include "btf/report/fit.h"
#include "report/fit/scales.h"
#include "report/fit/words.h"

namespace btf::report {
namespace {

constexpr std::string_view kFitSchema = "btftool/fit/1";

Json text_or_none(const std::string& text) { return text.empty() ? Json() : Json(text); }

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
