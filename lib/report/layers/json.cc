#include "report/layers/json.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/report.h"
#include "btf/try.h"
#include "report/layers/story.h"
#include "report/text/json.h"

namespace btf::report {
namespace {

// Returns the value of an enum with the name in the JSON.
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

  Json pair(const Layer& layer) const;

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
    json["scales"] = value_options(run_);
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

  // A layer of an engine, and the nodes that are fused into it.
  static Json fused_json(const Layer& layer) {
    return {{"layer", layer.fused}, {"nodes", layer.fused_nodes}};
  }

  const LayerRun& run_;
  const LayerReport& report_;
};

Json Document::pair(const Layer& layer) const {
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

}  // namespace

Json layer_json(const LayerRun& run, const Layer& layer) { return Document(run).pair(layer); }

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

namespace btf::report {
namespace {

// The member as one of the names.
template <typename T>
T named(std::span<const Named<T>> names, const JsonNode& node) {
  const std::string name = node.text();
  const auto row = std::ranges::find(names, name, &Named<T>::name);
  if (row != names.end()) return row->value;
  if (!node.failed()) node.fail("is not a known name");
  return names.front().value;
}

std::string text_or_empty(const JsonNode& node) {
  return node.null() ? std::string() : node.text();
}

std::vector<std::string> texts(const JsonNode& list) {
  std::vector<std::string> found;
  list.each([&](const JsonNode& item) {
    if (!item.failed()) found.push_back(item.text());
  });
  return found;
}

std::optional<DType> dtype_of(const JsonNode& node) {
  if (node.null()) return std::nullopt;
  const auto dtype = btf::parse_dtype(node.text());
  if (dtype) return *dtype;
  if (!node.failed()) node.fail("is not a dtype");
  return std::nullopt;
}

LayerSide side(const JsonNode& node) {
  LayerSide side{.norm = node["norm"].amount(),
                 .sum = node["sum"].number(),
                 .peak = node["peak"].amount(),
                 .bits = static_cast<std::uint32_t>(node["bits"].integer(0, 64)),
                 .step = node["step"].amount(),
                 .scale = node.has("scale") ? node["scale"].amount() : 0,
                 .fingerprint = node["fingerprint"].count()};
  std::size_t at = 0;
  node["samples"].each([&](const JsonNode& sample) {
    if (at < side.samples.size()) side.samples[at++] = sample.number();
  });
  return side;
}

std::vector<Hint> hints(const JsonNode& list) {
  std::vector<Hint> found;
  list.each([&](const JsonNode& node) {
    Hint hint;
    hint.evidence = node["evidence"].text();
    const std::string cause = node["cause"].text();
    const auto names = btf::cause_names();
    const auto row = std::ranges::find(names, cause, &Named<Cause>::name);
    row == names.end() ? void(hint.other_cause = cause) : void(hint.cause = row->value);
    found.push_back(std::move(hint));
  });
  return found;
}

SpotCheck spot(const JsonNode& node) {
  SpotCheck spot{.state = named(btf::spot_state_names(), node["state"]),
                 .checked = node["checked"].count(),
                 .off = node["off"].count(),
                 .overflowed = node["overflowed"].count(),
                 .golden_checked = node["golden_checked"].count(),
                 .golden_off = node["golden_off"].count(),
                 .precision = text_or_empty(node["precision"]),
                 .why = text_or_empty(node["why"])};
  // Reports of earlier versions lack these members.
  const auto amount = [&](const char* member) {
    return node.has(member) && !node[member].null() ? std::optional(node[member].amount())
                                                    : std::nullopt;
  };
  spot.own_error = amount("own_error");
  spot.usual_error = amount("usual_error");
  spot.adds = amount("adds");
  if (node.has("where")) spot.where = text_or_empty(node["where"]);
  if (node.has("holds")) spot.holds = text_or_empty(node["holds"]);
  const JsonNode element = node["element"];
  if (!element.null())
    spot.element = {.index = element["index"].dims(),
                    .actual = element["actual"].number(),
                    .golden = element["golden"].number(),
                    .recomputed = element["recomputed"].number(),
                    .explained = element["explained"].amount()};
  if (!node.failed() && (spot.off > spot.checked || spot.golden_off > spot.golden_checked))
    node["off"].fail("contradicts checked");
  return spot;
}

Layer pair(const JsonNode& node) {
  Layer layer;
  layer.actual = text_or_empty(node["actual"]);
  layer.golden = text_or_empty(node["golden"]);
  layer.tier = named(btf::pair_tier_names(), node["tier"]);
  std::size_t at = 0;
  node["dtypes"].each([&](const JsonNode& dtype) {
    if (at == 0) layer.actual_dtype = dtype_of(dtype);
    if (at == 1) layer.golden_dtype = dtype_of(dtype);
    ++at;
  });
  layer.golden_dims = node["shape"].dims();
  layer.actual_dims = node.has("actual_shape") ? node["actual_shape"].dims() : layer.golden_dims;
  layer.op = text_or_empty(node["op"]);
  layer.role = text_or_empty(node["role"]);
  if (node.has("fused")) {
    layer.fused = node["fused"]["layer"].text();
    layer.fused_nodes = texts(node["fused"]["nodes"]);
  }
  if (node.has("compute")) layer.compute = dtype_of(node["compute"]);
  layer.placed = node["placed"].flag();
  layer.unseen = texts(node["unseen"]);
  layer.trouble = text_or_empty(node["trouble"]);
  if (!node["baseline"].null()) layer.baseline = node["baseline"].amount();
  if (!node["e"].null()) layer.figures = read_figures(node);
  if (named(btf::layer_fault_names(), node["fault"]) == LayerFault::shape)
    layer.fault = LayerFault::shape;
  // Reports of earlier versions lack this member.
  if (node.has("spot") && !node["spot"].null()) layer.spot = spot(node["spot"]);
  layer.hints = hints(node["hints"]);
  return layer;
}

void read_pairs(const JsonNode& list, LayerReport& report) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  list.each([&](const JsonNode& node) {
    if (node.failed()) return;
    report.layers.push_back(pair(node));
    Layer& layer = report.layers.back();
    layer.number = numbers.size();
    numbers.emplace(layer.name(), report.layers.size() - 1);
  });
  std::size_t at = 0;
  list.each([&](const JsonNode& node) {
    if (node.failed()) return;
    const std::uint64_t own = at++;
    node["inputs"].each([&](const JsonNode& input) {
      const auto found = numbers.find(input.text());
      if (input.failed()) return;
      // A later layer cannot be an input: that would be a cycle.
      if (found == numbers.end() || found->second >= own)
        return input.fail("is not an earlier pair");
      report.layers[own].inputs.push_back(found->second);
    });
  });
}

// Returns std::nullopt for reports of earlier versions.
std::optional<GivenScale> given_scale(const JsonNode& verdict, const char* member) {
  if (!verdict.has(member)) return std::nullopt;
  const JsonNode node = verdict[member];
  GivenScale given;
  if (!node["axis"].null())
    given.axis = static_cast<std::uint32_t>(node["axis"].integer(0, btf::kMaxRank - 1));
  node["scales"].each([&](const JsonNode& scale) { given.scales.push_back(scale.amount()); });
  node["zero_points"].each([&](const JsonNode& zero) {
    given.zero_points.push_back(zero.integer(INT16_MIN, UINT16_MAX));
  });
  if (given.scales.empty() ||
      (!given.zero_points.empty() && given.zero_points.size() != given.scales.size()))
    node.fail("needs scales, and no zero points or one for each");
  return given;
}

void read_verdict(const JsonNode& node, LayerReport& report) {
  LayerVerdict& verdict = report.verdict;
  if (!node["layer"].null()) {
    const auto layer = std::ranges::find(report.layers, node["layer"].text(), &Layer::name);
    if (layer == report.layers.end()) return node["layer"].fail("is not a pair");
    verdict.layer = static_cast<std::uint64_t>(layer - report.layers.begin());
  }
  verdict.actual_path = text_or_empty(node["actual_file"]);
  verdict.golden_path = text_or_empty(node["golden_file"]);
  if (!node["actual_tensor"].null()) verdict.actual_tensor = node["actual_tensor"].count();
  if (!node["golden_tensor"].null()) verdict.golden_tensor = node["golden_tensor"].count();
  verdict.actual_scale = given_scale(node, "actual_scale");
  verdict.golden_scale = given_scale(node, "golden_scale");
}

LayerRun run_of(const JsonNode& root) {
  LayerRun run;
  LayerReport& report = run.report;
  if (!root.has("schema") || root["schema"].text() != kLayersSchema) {
    root.fail("is not a report of btftool layers: its schema is not " + std::string(kLayersSchema));
    return run;
  }
  run.actual = root["actual"].text();
  run.golden = root["golden"].text();
  const JsonNode order = root["order"];
  report.order = named(btf::order_source_names(), order["source"]);
  report.order_path = text_or_empty(order["path"]);
  if (order.has("graph")) report.graph_path = order["graph"].text();
  if (order.has("engine")) report.engine_path = order["engine"].text();
  if (order.has("actual_graph")) report.actual_graph_path = order["actual_graph"].text();
  if (order.has("left_out")) {
    report.order_left_out = texts(order["left_out"]);
    report.order_unknown = texts(order["unknown"]);
    if (!order["left_out_by"].null())
      report.order_left_out_by = named(btf::order_source_names(), order["left_out_by"]);
  }
  if (root.has("statistics_only")) report.statistics_only = root["statistics_only"].flag();
  const JsonNode coverage = root["coverage"];
  report.paired = coverage["paired"].count();
  report.actual_only = texts(coverage["actual_only"]);
  report.golden_only = texts(coverage["golden_only"]);
  report.missing_outputs = texts(coverage["missing_outputs"]);
  // Reports of earlier versions lack these members.
  const auto beside = [&](const char* member, std::vector<BesideName>& names) {
    if (!coverage.has(member)) return;
    coverage[member].each([&](const JsonNode& node) {
      names.push_back({node["name"].text(), node["compared"].text()});
    });
  };
  beside("actual_beside", report.actual_beside);
  beside("golden_beside", report.golden_beside);
  if (coverage.has("flat"))
    for (const std::string& side : texts(coverage["flat"]))
      (side == "actual" ? report.actual_flat : report.golden_flat) = true;
  coverage["ambiguous"].each([&](const JsonNode& node) {
    report.ambiguous.push_back({texts(node["actual"]), texts(node["golden"]),
                                named(btf::pair_tier_names(), node["tier"])});
  });
  if (const JsonNode watched = root["watched"]; !watched.null()) {
    report.watched_error = watched["error"].amount();
    report.watched_nonfinite = watched.has("nonfinite") && watched["nonfinite"].flag();
  }
  report.troubles = texts(root["troubles"]);
  if (root.has("noise") && root["noise"].has("arithmetic"))
    report.arithmetic = text_or_empty(root["noise"]["arithmetic"]);
  if (root.has("warnings")) report.warnings = texts(root["warnings"]);
  if (root.has("scales")) run.scales = texts(root["scales"]);
  read_pairs(root["pairs"], report);
  read_verdict(root["verdict"], report);
  return run;
}

}  // namespace

LayerFigures read_figures(const JsonNode& node) {
  LayerFigures f;
  f.elements = node["elements"].count();
  f.pairs = node["numbers"].count();
  f.equal = node["equal"].count();
  f.relative_error = node["e"].amount();
  f.slice_error = node["w"].amount();
  f.gain_share = node["rho"].amount();
  f.offset_share = node["mu"].amount();
  f.gain = node["gain"].number();
  f.error = node["error"].amount();
  f.max_error = node["max_error"].amount();
  f.scale_fitted = node["scale_fitted"].flag();
  f.nan = {node["nan"]["both"].count(), node["nan"]["actual"].count(),
           node["nan"]["golden"].count()};
  f.inf = {node["inf"]["both"].count(), node["inf"]["opposite"].count(),
           node["inf"]["actual"].count(), node["inf"]["golden"].count()};
  f.at_limit = node["at_limit"].count();
  f.masked = node["masked"].count();
  f.actual = side(node["sides"]["actual"]);
  f.golden = side(node["sides"]["golden"]);
  if (!node.failed() && (f.pairs > f.elements || f.equal > f.pairs))
    node["numbers"].fail("contradicts elements and equal");
  return f;
}

}  // namespace btf::report

namespace btf {

Result<LayerRun> read_layer_report(const std::string& json) {
  BTF_ASSIGN(const auto document, report::parse_json(json, "a report of btftool layers"));
  std::string trouble;
  LayerRun run = report::run_of(report::JsonNode(document, trouble));
  if (trouble.empty() && run.report.layers.empty()) trouble = "it has no pairs";
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return run;
}

}  // namespace btf
