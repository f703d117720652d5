#include <algorithm>
#include <unordered_map>

#include "btf/report/report.h"
#include "btf/try.h"
#include "report/layers/json.h"
#include "report/text/json_node.h"
#include "report/text/json_parse.h"

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
  // Reports of earlier versions have none of these.
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
  // Reports of earlier versions have none.
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

// Reports of earlier versions have none.
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
  // Reports of earlier versions have none of these.
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
