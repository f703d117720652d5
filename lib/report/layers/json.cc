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

namespace btf::report {

template <>
inline constexpr auto kNames<SpotState> = btf::spot_state_names;
template <>
inline constexpr auto kNames<OrderSource> = btf::order_source_names;
template <>
inline constexpr auto kNames<LayerState> = btf::layer_state_names;
template <>
inline constexpr auto kNames<LayerFault> = btf::layer_fault_names;
template <>
inline constexpr auto kNames<VerdictKind> = btf::verdict_kind_names;

template <>
struct Fields<GivenScale> {
  static void visit(auto& fields, auto& given) {
    fields("axis", given.axis);
    fields("scales", given.scales);
    fields("zero_points", given.zero_points);
  }
  static void check(const JsonNode& node, const GivenScale& given) {
    if (given.axis && *given.axis >= btf::kMaxRank) node["axis"].fail("is not a dim");
    for (const double scale : given.scales)
      if (!(scale >= 0)) node["scales"].fail("are not all 0 or more");
    for (const std::int64_t zero : given.zero_points)
      if (zero < INT16_MIN || zero > UINT16_MAX) node["zero_points"].fail("are out of range");
    if (given.scales.empty() ||
        (!given.zero_points.empty() && given.zero_points.size() != given.scales.size()))
      node.fail("needs scales, and no zero points or one for each");
  }
};

template <>
struct Fields<SpotElement> {
  static void visit(auto& fields, auto& element) {
    fields("index", element.index);
    fields("actual", element.actual);
    fields("golden", element.golden);
    fields("recomputed", element.recomputed);
    fields.amount("explained", element.explained);
  }
};

template <>
struct Fields<SpotCheck> {
  static void visit(auto& fields, auto& spot) {
    fields("state", spot.state);
    fields("checked", spot.checked);
    fields("off", spot.off);
    fields("overflowed", spot.overflowed);
    fields("golden_checked", spot.golden_checked);
    fields("golden_off", spot.golden_off);
    fields.or_null("precision", spot.precision);
    fields.added_amount("own_error", spot.own_error);
    fields.added_amount("usual_error", spot.usual_error);
    fields.added_amount("adds", spot.adds);
    fields.added_or_null("where", spot.where);
    fields.added_or_null("holds", spot.holds);
    fields("element", spot.element);
    fields.or_null("why", spot.why);
  }
  static void check(const JsonNode& node, const SpotCheck& spot) {
    if (spot.off > spot.checked || spot.golden_off > spot.golden_checked)
      node["off"].fail("contradicts checked");
  }
};

template <>
struct Fields<BesideName> {
  static void visit(auto& fields, auto& name) {
    fields("name", name.name);
    fields("compared", name.compared);
  }
};

template <>
struct Fields<Ambiguity> {
  static void visit(auto& fields, auto& ambiguity) {
    fields("actual", ambiguity.actual);
    fields("golden", ambiguity.golden);
    fields("tier", ambiguity.tier);
  }
};

namespace {

// A layer of an engine, and the nodes that are fused into it.
void visit_fused(auto& fields, auto& layer) {
  fields("layer", layer.fused);
  fields("nodes", layer.fused_nodes);
}

Json fused_json(const Layer& layer) {
  return object_of([&](auto& fields) { visit_fused(fields, layer); });
}

Json dtypes_json(const Layer& layer) {
  return {json_of(layer.actual_dtype), json_of(layer.golden_dtype)};
}

void read_dtypes(const JsonNode& node, Layer& layer) {
  std::vector<std::optional<DType>> dtypes;
  read(node, dtypes);
  if (!dtypes.empty()) layer.actual_dtype = dtypes[0];
  if (dtypes.size() > 1) layer.golden_dtype = dtypes[1];
}

Json names_json(const LayerReport& report, const std::vector<std::uint64_t>& layers) {
  Json list = Json::array();
  for (const std::uint64_t layer : layers) list.push_back(report.layers[layer].name());
  return list;
}

// What judge_layers() sets is not read: a report that is read is judged again.
void visit_layer(auto& fields, auto& layer, const LayerReport& report) {
  fields.or_null("actual", layer.actual);
  fields.or_null("golden", layer.golden);
  fields("tier", layer.tier);
  fields.custom("dtypes", layer, dtypes_json, read_dtypes);
  fields("shape", layer.golden_dims);
  if constexpr (kReads<decltype(fields)>) layer.actual_dims = layer.golden_dims;
  fields.custom_if(layer.actual_dims != layer.golden_dims, "actual_shape", layer.actual_dims,
                   json_dims, [](const JsonNode& node, Dims& dims) { dims = node.dims(); });
  fields.or_null("op", layer.op);
  fields.or_null("role", layer.role);
  fields.custom_if(!layer.fused.empty(), "fused", layer, fused_json,
                   [](const JsonNode& node, Layer& fused) {
                     read_object(node, [&](auto& inner) { visit_fused(inner, fused); });
                   });
  fields.if_set("compute", layer.compute);
  visit_figures(fields, layer.figures);
  fields.derived("e_in", [&] { return json_number(layer.input_error); });
  fields.derived("noise", [&] { return json_number(layer.noise); });
  fields.derived("b", [&] { return json_number(layer.error_to_noise); });
  fields.derived("bw", [&] { return json_number(layer.slice_error_to_noise); });
  fields.derived("state", [&] { return json_of(layer.state); });
  fields.custom("fault", layer.fault, json_of<LayerFault>,
                [](const JsonNode& node, LayerFault& fault) {
                  if (read<LayerFault>(node) == LayerFault::shape) fault = LayerFault::shape;
                });
  fields.derived("note", [&] { return text_or_null(layer.note); });
  fields("placed", layer.placed);
  fields.derived("inputs", [&] { return names_json(report, layer.inputs); });
  fields("unseen", layer.unseen);
  fields.amount("baseline", layer.baseline);
  fields.or_null("trouble", layer.trouble);
  fields.added("spot", layer.spot);
  fields("hints", layer.hints);
}

// The members of the document before its pairs, but for what judge_layers() sets.
void visit_order(auto& fields, auto& report) {
  fields("source", report.order);
  fields.or_null("path", report.order_path);
  fields.derived("doubtful", [&] { return report.order_doubtful; });
  fields.added("left_out", report.order_left_out);
  fields.custom_if(
      true, "left_out_by", report,
      [](const LayerReport& of) {
        return of.order_left_out.empty() ? Json() : json_of(of.order_left_out_by);
      },
      [](const JsonNode& node, LayerReport& of) {
        if (!node.null()) read(node, of.order_left_out_by);
      });
  fields.added("unknown", report.order_unknown);
  fields.if_set("graph", report.graph_path);
  fields.if_set("engine", report.engine_path);
  fields.if_set("actual_graph", report.actual_graph_path);
}

void visit_coverage(auto& fields, auto& report) {
  fields("paired", report.paired);
  fields("actual_only", report.actual_only);
  fields("golden_only", report.golden_only);
  fields("missing_outputs", report.missing_outputs);
  fields("ambiguous", report.ambiguous);
  fields.if_set("actual_beside", report.actual_beside);
  fields.if_set("golden_beside", report.golden_beside);
  fields.custom_if(
      report.actual_flat || report.golden_flat, "flat", report,
      [](const LayerReport& of) {
        Json sides = Json::array();
        if (of.actual_flat) sides.push_back("actual");
        if (of.golden_flat) sides.push_back("golden");
        return sides;
      },
      [](const JsonNode& node, LayerReport& of) {
        for (const std::string& side : read<std::vector<std::string>>(node))
          (side == "actual" ? of.actual_flat : of.golden_flat) = true;
      });
}

void visit_watched(auto& fields, auto& report) {
  fields.amount("error", report.watched_error);
  fields.derived("changed", [&] { return report.watching_changed_result; });
  fields.if_set("nonfinite", report.watched_nonfinite);
}

// Where the elements of the verdict's layer are.
void visit_verdict_place(auto& fields, auto& verdict) {
  fields.or_null("actual_file", verdict.actual_path);
  fields("actual_tensor", verdict.actual_tensor);
  fields.or_null("golden_file", verdict.golden_path);
  fields("golden_tensor", verdict.golden_tensor);
  fields.if_set("actual_scale", verdict.actual_scale);
  fields.if_set("golden_scale", verdict.golden_scale);
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
      BTF_TRY(sink(dump(layer_json(run_, layer))));
      comma = ",";
    }
    return sink("]," + dump(after_pairs()).substr(1) + "\n");
  }

 private:
  Json before_pairs() const {
    return object_of([&](auto& fields) {
      fields.put("schema", kLayersSchema);
      fields("actual", run_.actual);
      fields("golden", run_.golden);
      fields.object("verdict", [&](auto& verdict) { visit_verdict(verdict); });
      Json roots = Json::array();
      for (const std::uint64_t root : report_.roots) roots.push_back(fault(root));
      fields.put("roots", std::move(roots));
      fields.put("artefacts", in_states({LayerState::dump}));
      fields.put("unjudged", in_states({LayerState::unjudged, LayerState::unmeasured}));
      fields.object("order", [&](auto& order) { visit_order(order, report_); });
      fields.put("noise", {{"source", report_.noise_source},
                           {"arithmetic", text_or_null(report_.arithmetic)},
                           {"u", json_number(report_.unit_roundoff)},
                           {"a", json_number(run_.judge.growth)}});
      fields.if_set("statistics_only", report_.statistics_only);
      fields.object("coverage", [&](auto& coverage) { visit_coverage(coverage, report_); });
      fields.put("scales", value_options(run_));
      fields.if_set("other_files", run_.others);
      if (report_.watched_error)
        fields.object("watched", [&](auto& watched) { visit_watched(watched, report_); });
      else
        fields.put("watched", Json());
    });
  }

  Json after_pairs() const {
    Json json{{"sanity", Json::array()}};
    for (const SanityFinding& finding : report_.sanity)
      json["sanity"].push_back({{"code", finding.code},
                                {"layers", names_json(report_, finding.layers)},
                                {"message", finding.message}});
    json["troubles"] = report_.troubles;
    json["warnings"] = report_.warnings;
    return json;
  }

  void visit_verdict(FieldWriter& fields) const {
    const LayerVerdict& verdict = report_.verdict;
    const Layer* const layer = verdict.layer ? &report_.layers[*verdict.layer] : nullptr;
    fields("kind", verdict.kind);
    fields.put("layer", layer != nullptr ? Json(layer->name()) : Json());
    fields("between", verdict.between);
    fields.put("b", layer != nullptr ? json_number(layer->error_to_noise) : Json());
    fields.put("e_in", layer != nullptr ? json_number(layer->input_error) : Json());
    fields.put("e_out", layer != nullptr ? error_of(*layer) : Json());
    fields("words", verdict.words);
    if (layer != nullptr && !layer->fused.empty()) fields.put("fused", fused_json(*layer));
    visit_verdict_place(fields, verdict);
  }

  static Json error_of(const Layer& layer) {
    return layer.figures ? json_number(layer.figures->relative_error) : Json();
  }

  Json fault(std::uint64_t number) const {
    const Layer& layer = report_.layers[number];
    return {{"layer", layer.name()},
            {"fault", json_of(layer.fault)},
            {"b", json_number(layer.error_to_noise)},
            {"bw", json_number(layer.slice_error_to_noise)},
            {"e_in", json_number(layer.input_error)},
            {"e_out", error_of(layer)},
            {"between", layer.unseen},
            {"hints", json_of(layer.hints)}};
  }

  // The layers in the first of these states, then those in the next.
  Json in_states(std::initializer_list<LayerState> states) const {
    Json list = Json::array();
    for (const LayerState state : states)
      for (const Layer& layer : report_.layers)
        if (layer.state == state)
          list.push_back(
              {{"layer", layer.name()}, {"why", layer.note}, {"hints", json_of(layer.hints)}});
    return list;
  }

  const LayerRun& run_;
  const LayerReport& report_;
};

}  // namespace

Json layer_json(const LayerRun& run, const Layer& layer) {
  return object_of([&](auto& fields) { visit_layer(fields, layer, run.report); });
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

void read_pairs(const JsonNode& list, LayerReport& report) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  list.each([&](const JsonNode& node) {
    if (node.failed()) return;
    Layer layer;
    read_object(node, [&](auto& fields) { visit_layer(fields, layer, report); });
    layer.number = report.layers.size();
    numbers.emplace(layer.name(), report.layers.size());
    report.layers.push_back(std::move(layer));
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

void read_verdict(const JsonNode& node, LayerReport& report) {
  LayerVerdict& verdict = report.verdict;
  if (!node["layer"].null()) {
    const auto layer = std::ranges::find(report.layers, node["layer"].text(), &Layer::name);
    if (layer == report.layers.end()) return node["layer"].fail("is not a pair");
    verdict.layer = static_cast<std::uint64_t>(layer - report.layers.begin());
  }
  read_object(node, [&](auto& fields) { visit_verdict_place(fields, verdict); });
}

LayerRun run_of(const JsonNode& root) {
  LayerRun run;
  LayerReport& report = run.report;
  if (!root.has("schema") || root["schema"].text() != kLayersSchema) {
    root.fail("is not a report of btftool layers: its schema is not " + std::string(kLayersSchema));
    return run;
  }
  FieldReader fields(root);
  fields("actual", run.actual);
  fields("golden", run.golden);
  fields.object("order", [&](auto& order) { visit_order(order, report); });
  fields.if_set("statistics_only", report.statistics_only);
  fields.object("coverage", [&](auto& coverage) { visit_coverage(coverage, report); });
  if (!root["watched"].null())
    fields.object("watched", [&](auto& watched) { visit_watched(watched, report); });
  fields("troubles", report.troubles);
  // Reports of earlier versions lack these members.
  if (root.has("noise"))
    fields.object("noise",
                  [&](auto& noise) { noise.added_or_null("arithmetic", report.arithmetic); });
  fields.added("warnings", report.warnings);
  fields.added("scales", run.scales);
  read_pairs(root["pairs"], report);
  read_verdict(root["verdict"], report);
  return run;
}

}  // namespace
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
