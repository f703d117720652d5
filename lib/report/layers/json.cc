#include "report/layers/json.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/report/report.h"
#include "btf/try.h"
#include "report/layers/command.h"
#include "report/text/json.h"

namespace btf::report {
namespace {

// A member of an enum by its name.
template <typename T>
Json named(std::span<const Named<T>> names, T value) {
  return std::string(std::ranges::find(names, value, &Named<T>::value)->name);
}

Json optional_number(const std::optional<double>& value) {
  return value ? json_number(*value) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json side_json(const LayerSide& side) {
  Json samples = Json::array();
  for (const double sample : side.samples) samples.push_back(json_number(sample));
  return {{"norm", json_number(side.norm)},
          {"sum", json_number(side.sum)},
          {"peak", json_number(side.peak)},
          {"bits", side.bits},
          {"step", json_number(side.step)},
          {"scale", json_number(side.scale)},
          {"fingerprint", json_number(side.fingerprint)},
          {"samples", std::move(samples)}};
}

Json scale_json(const GivenScale& given) {
  Json json{{"axis", given.axis ? Json(*given.axis) : Json()},
            {"scales", Json::array()},
            {"zero_points", Json::array()}};
  for (const double scale : given.scales) json["scales"].push_back(json_number(scale));
  for (const std::int64_t zero : given.zero_points) json["zero_points"].push_back(zero);
  return json;
}

Json spot_json(const SpotCheck& spot) {
  Json json{{"state", named(btf::spot_state_names(), spot.state)},
            {"checked", json_number(spot.checked)},
            {"off", json_number(spot.off)},
            {"overflowed", json_number(spot.overflowed)},
            {"golden_checked", json_number(spot.golden_checked)},
            {"golden_off", json_number(spot.golden_off)},
            {"precision", text_or_null(spot.precision)},
            {"own_error", spot.own_error ? json_number(*spot.own_error) : Json()},
            {"usual_error", spot.usual_error ? json_number(*spot.usual_error) : Json()},
            {"adds", spot.adds ? json_number(*spot.adds) : Json()},
            {"where", text_or_null(spot.where)},
            {"holds", text_or_null(spot.holds)},
            {"element", Json()},
            {"why", text_or_null(spot.why)}};
  if (!spot.element) return json;
  json["element"] = {{"index", json_dims(spot.element->index)},
                     {"actual", json_number(spot.element->actual)},
                     {"golden", json_number(spot.element->golden)},
                     {"recomputed", json_number(spot.element->recomputed)},
                     {"explained", json_number(spot.element->explained)}};
  return json;
}

Json hints_json(const std::vector<Hint>& hints) {
  Json list = Json::array();
  for (const Hint& hint : hints)
    list.push_back({{"cause", hint.other_cause.empty() ? std::string(btf::cause_name(hint.cause))
                                                       : hint.other_cause},
                    {"evidence", hint.evidence}});
  return list;
}

class Document {
 public:
  explicit Document(const LayerRun& run) : run_(run), report_(run.report) {}

  Status write(const TextSink& sink) const {
    std::string head = dump(before_pairs());
    head.back() = ',';
    BTF_TRY(sink(head + "\"pairs\":["));
    std::string_view comma;
    for (const Layer& layer : report_.layers) {
      BTF_TRY(sink(comma));
      BTF_TRY(sink(dump(pair(layer))));
      comma = ",";
    }
    return sink("]," + dump(behind_pairs()).substr(1) + "\n");
  }

 private:
  Json before_pairs() const {
    Json json{{"schema", kLayersSchema}, {"actual", run_.actual}, {"golden", run_.golden}};
    json["verdict"] = verdict();
    json["roots"] = Json::array();
    for (const std::uint64_t root : report_.roots) json["roots"].push_back(fault(root));
    json["artefacts"] = of_state(LayerState::dump);
    json["unjudged"] = of_state(LayerState::unjudged);
    for (Json& layer : of_state(LayerState::unmeasured))
      json["unjudged"].push_back(std::move(layer));
    json["order"] = {
        {"source", named(btf::order_source_names(), report_.order)},
        {"path", text_or_null(report_.order_path)},
        {"doubtful", report_.order_doubtful},
        {"left_out", report_.order_left_out},
        {"left_out_by", report_.order_left_out.empty()
                            ? Json()
                            : named(btf::order_source_names(), report_.order_left_out_by)},
        {"unknown", report_.order_unknown}};
    if (!report_.graph_path.empty()) json["order"]["graph"] = report_.graph_path;
    if (!report_.engine_path.empty()) json["order"]["engine"] = report_.engine_path;
    if (!report_.actual_graph_path.empty())
      json["order"]["actual_graph"] = report_.actual_graph_path;
    json["noise"] = {{"source", report_.noise_source},
                     {"arithmetic", text_or_null(report_.arithmetic)},
                     {"u", json_number(report_.unit_roundoff)},
                     {"a", json_number(run_.judge.growth)}};
    if (report_.statistics_only) json["statistics_only"] = true;
    json["coverage"] = {{"paired", json_number(report_.paired)},
                        {"actual_only", report_.actual_only},
                        {"golden_only", report_.golden_only},
                        {"missing_outputs", report_.missing_outputs},
                        {"ambiguous", ambiguous()}};
    if (!report_.actual_beside.empty())
      json["coverage"]["actual_beside"] = beside(report_.actual_beside);
    if (!report_.golden_beside.empty())
      json["coverage"]["golden_beside"] = beside(report_.golden_beside);
    if (report_.actual_flat || report_.golden_flat) {
      Json& flat = json["coverage"]["flat"] = Json::array();
      if (report_.actual_flat) flat.push_back("actual");
      if (report_.golden_flat) flat.push_back("golden");
    }
    json["scales"] = words_of_numbers(run_);
    if (!run_.others.empty()) json["other_files"] = run_.others;
    json["watched"] = report_.watched_error ? Json{{"error", json_number(*report_.watched_error)},
                                                   {"changed", report_.watching_changed_result}}
                                            : Json();
    if (report_.watched_nonfinite) json["watched"]["nonfinite"] = true;
    return json;
  }

  Json behind_pairs() const {
    Json json{{"sanity", Json::array()}};
    for (const SanityFinding& finding : report_.sanity)
      json["sanity"].push_back({{"code", finding.code},
                                {"layers", names(finding.layers)},
                                {"message", finding.message}});
    json["troubles"] = report_.troubles;
    json["warnings"] = report_.warnings;
    return json;
  }

  Json names(const std::vector<std::uint64_t>& layers) const {
    Json list = Json::array();
    for (const std::uint64_t layer : layers) list.push_back(report_.layers[layer].name());
    return list;
  }

  Json verdict() const {
    const LayerVerdict& verdict = report_.verdict;
    const Layer* const layer = verdict.layer ? &report_.layers[*verdict.layer] : nullptr;
    const auto figure = [&](double value) {
      return layer != nullptr ? json_number(value) : Json();
    };
    Json json{{"kind", named(btf::verdict_kind_names(), verdict.kind)},
              {"layer", layer != nullptr ? Json(layer->name()) : Json()},
              {"between", verdict.between}};
    json["b"] = layer != nullptr ? figure(layer->error_to_noise) : Json();
    json["e_in"] = layer != nullptr ? figure(layer->input_error) : Json();
    json["e_out"] =
        layer != nullptr && layer->figures ? figure(layer->figures->relative_error) : Json();
    json["words"] = verdict.words;
    if (layer != nullptr && !layer->fused.empty()) json["fused"] = fused_json(*layer);
    json["actual_file"] = text_or_null(verdict.actual_path);
    json["actual_tensor"] = verdict.actual_tensor ? json_number(*verdict.actual_tensor) : Json();
    json["golden_file"] = text_or_null(verdict.golden_path);
    json["golden_tensor"] = verdict.golden_tensor ? json_number(*verdict.golden_tensor) : Json();
    if (verdict.actual_scale) json["actual_scale"] = scale_json(*verdict.actual_scale);
    if (verdict.golden_scale) json["golden_scale"] = scale_json(*verdict.golden_scale);
    return json;
  }

  Json fault(std::uint64_t number) const {
    const Layer& layer = report_.layers[number];
    return {{"layer", layer.name()},
            {"fault", named(btf::layer_fault_names(), layer.fault)},
            {"b", json_number(layer.error_to_noise)},
            {"bw", json_number(layer.slice_error_to_noise)},
            {"e_in", json_number(layer.input_error)},
            {"e_out", layer.figures ? json_number(layer.figures->relative_error) : Json()},
            {"between", layer.unseen},
            {"hints", hints_json(layer.hints)}};
  }

  Json of_state(LayerState state) const {
    Json list = Json::array();
    for (const Layer& layer : report_.layers)
      if (layer.state == state)
        list.push_back(
            {{"layer", layer.name()}, {"why", layer.note}, {"hints", hints_json(layer.hints)}});
    return list;
  }

  static Json beside(const std::vector<BesideName>& names) {
    Json list = Json::array();
    for (const BesideName& one : names)
      list.push_back({{"name", one.name}, {"compared", one.compared}});
    return list;
  }

  Json ambiguous() const {
    Json list = Json::array();
    for (const Ambiguity& ambiguity : report_.ambiguous)
      list.push_back({{"actual", ambiguity.actual},
                      {"golden", ambiguity.golden},
                      {"tier", named(btf::pair_tier_names(), ambiguity.tier)}});
    return list;
  }

  Json pair(const Layer& layer) const {
    const auto dtype = [](const std::optional<DType>& of) {
      return of ? Json(std::string(btf::info(*of).name)) : Json();
    };
    Json json{{"actual", text_or_null(layer.actual)},
              {"golden", text_or_null(layer.golden)},
              {"tier", named(btf::pair_tier_names(), layer.tier)},
              {"dtypes", {dtype(layer.actual_dtype), dtype(layer.golden_dtype)}},
              {"shape", json_dims(layer.golden_dims)}};
    if (layer.actual_dims != layer.golden_dims) json["actual_shape"] = json_dims(layer.actual_dims);
    json["op"] = text_or_null(layer.op);
    json["role"] = text_or_null(layer.role);
    if (!layer.fused.empty()) json["fused"] = fused_json(layer);
    if (layer.compute) json["compute"] = dtype(layer.compute);
    add_figures(json, layer.figures);
    json["e_in"] = json_number(layer.input_error);
    json["noise"] = json_number(layer.noise);
    json["b"] = json_number(layer.error_to_noise);
    json["bw"] = json_number(layer.slice_error_to_noise);
    json["state"] = named(btf::layer_state_names(), layer.state);
    json["fault"] = named(btf::layer_fault_names(), layer.fault);
    json["note"] = text_or_null(layer.note);
    json["placed"] = layer.placed;
    json["inputs"] = names(layer.inputs);
    json["unseen"] = layer.unseen;
    json["baseline"] = optional_number(layer.baseline);
    json["trouble"] = text_or_null(layer.trouble);
    json["spot"] = layer.spot ? spot_json(*layer.spot) : Json();
    json["hints"] = hints_json(layer.hints);
    return json;
  }

  // A layer of an engine, and what was fused into it.
  static Json fused_json(const Layer& layer) {
    return {{"layer", layer.fused}, {"nodes", layer.fused_nodes}};
  }

  const LayerRun& run_;
  const LayerReport& report_;
};

}  // namespace

void add_figures(Json& json, const std::optional<LayerFigures>& found) {
  if (!found) {
    for (const char* member :
         {"elements", "numbers", "equal", "e", "w", "rho", "mu", "gain", "error", "max_error",
          "scale_fitted", "nan", "inf", "at_limit", "masked", "sides"})
      json[member] = Json();
    return;
  }
  const LayerFigures& figures = *found;
  json["elements"] = json_number(figures.elements);
  json["numbers"] = json_number(figures.pairs);
  json["equal"] = json_number(figures.equal);
  json["e"] = json_number(figures.relative_error);
  json["w"] = json_number(figures.slice_error);
  json["rho"] = json_number(figures.gain_share);
  json["mu"] = json_number(figures.offset_share);
  json["gain"] = json_number(figures.gain);
  json["error"] = json_number(figures.error);
  json["max_error"] = json_number(figures.max_error);
  json["scale_fitted"] = figures.scale_fitted;
  json["nan"] = {{"both", json_number(figures.nan.both)},
                 {"actual", json_number(figures.nan.actual)},
                 {"golden", json_number(figures.nan.golden)}};
  json["inf"] = {{"both", json_number(figures.inf.both)},
                 {"opposite", json_number(figures.inf.opposite)},
                 {"actual", json_number(figures.inf.actual)},
                 {"golden", json_number(figures.inf.golden)}};
  json["at_limit"] = json_number(figures.at_limit);
  json["masked"] = json_number(figures.masked);
  json["sides"] = {{"actual", side_json(figures.actual)}, {"golden", side_json(figures.golden)}};
}

}  // namespace btf::report

namespace btf {

Status write_json(const LayerRun& run, const TextSink& sink) {
  return report::Document(run).write(sink);
}

std::string json(const LayerRun& run) {
  std::string text;
  [[maybe_unused]] const Status written = write_json(run, [&](std::string_view piece) -> Status {
    text += piece;
    return {};
  });
  return text;
}

}  // namespace btf
