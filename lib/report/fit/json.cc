// The JSON report of fit, "btftool/fit/1".
#include "report/fit/text.h"

namespace btf::report {

template <>
struct Fields<FitScaledLayer> {
  static void visit(auto& fields, auto& layer) {
    fields("name", layer.name);
    fields("op", layer.op);
    fields("error", layer.error);
    fields("share", layer.share);
  }
};

template <>
struct Fields<FitScaledOutput> {
  static void visit(auto& fields, auto& output) {
    fields("name", output.name);
    fields("error", output.error);
  }
};

template <>
struct Fields<FitOfScales> {
  static void visit(auto& fields, auto& type) {
    fields("dtype", type.dtype);
    fields.put("least_snr", kFitLeastSnr);
    fields.put("most_lost", kFitMostLost);
    fields("unjudged", type.unjudged);
    fields("tensors", type.tensors);
    fields("layers", type.layers);
    fields("outputs", type.outputs);
  }
};

template <>
struct Fields<FitTensor> {
  static void visit(auto& fields, auto& tensor) {
    fields("name", tensor.name);
    fields("weight", tensor.weight);
    fields("elements", tensor.elements);
    fields("nan", tensor.nan);
    fields("inf", tensor.infinite);
    fields("largest", tensor.largest);
    fields("smallest", tensor.smallest);
    fields("rms", tensor.rms);
    fields("margin", tensor.margin);
    fields("error", tensor.error);
    fields("beyond", tensor.beyond);
    fields("lost", tensor.lost);
  }
};

template <>
struct Fields<FitOutput> {
  static void visit(auto& fields, auto& output) {
    fields("name", output.name);
    fields("narrow_error", output.narrow);
    fields("kept_error", output.kept);
  }
};

namespace {

Json findings_json(const FitLayer& layer, const FitOfType& type) {
  Json list = Json::array();
  for (const FitFinding& finding : layer.findings)
    list.push_back({{"reason", fit_reason_name(finding.reason)},
                    {"tensor", text_or_null(finding.tensor)},
                    {"layer", text_or_null(finding.layer)},
                    {"number", json_number(finding.number)},
                    {"limit", json_number(finding.limit)},
                    {"dumps", json_number(finding.dumps)},
                    {"words", reason_words(finding, type)}});
  return list;
}

Json layers_json(const FitOfType& type) {
  Json list = Json::array();
  for (const FitLayer& layer : type.layers) list.push_back(layer_json(layer, type));
  return list;
}

}  // namespace

Json tensor_json(const FitTensor& tensor) { return json_of(tensor); }

Json layer_json(const FitLayer& layer, const FitOfType& type) {
  return {{"name", layer.name},
          {"named", layer.named},
          {"op", layer.op},
          {"outputs", layer.outputs},
          {"state", fit_state_name(layer.state)},
          {"findings", findings_json(layer, type)},
          {"why", text_or_null(layer.why)}};
}

template <>
struct Fields<FitOfType> {
  static void visit(auto& fields, auto& type) {
    fields("dtype", type.dtype);
    fields("largest", type.largest);
    fields("smallest", type.smallest);
    fields("unit_roundoff", type.unit_roundoff);
    fields("wide", type.wide);
    fields("unjudged", type.unjudged);
    fields.derived("layers", [&] { return layers_json(type); });
    fields("outputs", type.outputs);
    fields("tensors", type.tensors);
  }
};

template <>
struct Fields<FitReport> {
  static void visit(auto& fields, auto& report) {
    fields.put("schema", "btftool/fit/1");
    fields("dumps", report.dumps);
    fields("graph", report.graph);
    fields.derived("fits", [&] { return fits(report); });
    fields("integers", report.integers);
    fields("unused", report.unused);
    fields("types", report.types);
    fields("scaled", report.scaled);
  }
};

}  // namespace btf::report

namespace btf {

std::string json(const FitReport& report) { return report::dump(report::json_of(report)) + "\n"; }

}  // namespace btf
