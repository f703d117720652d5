// Writes and reads items of layers and fit as lines of a part.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/part.h"
#include "btf/try.h"
#include "diff/layers/spot_check.h"
#include "fit/items.h"
#include "report/fit/text.h"
#include "report/layers/json.h"
#include "report/text/json.h"

namespace btf::shards {
namespace {

// `item` is the name of an item in messages.
template <typename Planned, typename Measured, typename Item>
Result<MeasuredItems<Planned, Measured>> read_measured(const Parts& parts,
                                                       std::vector<std::string> deciding,
                                                       Result<Item> (*read)(std::string_view),
                                                       const char* item,
                                                       const Execution& execution) {
  std::vector<Measured> measured;
  const auto parse = [&](std::string_view line) -> Result<TakeItem> {
    BTF_ASSIGN(Item one, read(line));
    const auto kept = std::make_shared<Item>(std::move(one));
    return [&measured, item, kept]() -> Status {
      if (kept->number != measured.size())
        return fail(ErrorCode::malformed, "the parts have no " + std::string(item) + " " +
                                              std::to_string(measured.size()));
      measured.push_back(std::move(kept->measured));
      return {};
    };
  };
  BTF_TRY(parts.each(parse, execution));
  return MeasuredItems<Planned, Measured>(parts.head(), std::move(deciding), std::move(measured));
}

}  // namespace
}  // namespace btf::shards

namespace btf {

Status check_plan_of_parts(const PartHead& head, std::span<const std::string> deciding,
                           std::span<const PlannedPair> items, std::uint64_t measured) {
  if (items.size() == measured &&
      plan_digest(head.command, deciding, head.shard.of, items) == head.plan)
    return {};
  return fail(
      ErrorCode::refused,
      "the tensors, or a file that the options name, are not those that the parts were made "
      "of; run the shards again");
}

using report::Json;
using report::json_number;
using report::JsonNode;

namespace {

std::string result_of(const MeasuredLayer& measured) {
  if (!measured.trouble.empty()) return "trouble";
  const auto& figures = measured.figures;
  return figures && figures->equal == figures->pairs && figures->one_sided() == 0 ? "same"
                                                                                  : "different";
}

Json numbers_json(const auto& numbers) {
  Json list = Json::array();
  for (const std::uint64_t number : numbers) list.push_back(json_number(number));
  return list;
}

Json check_json(const SideCheck& check) {
  Json levels = Json::array();
  for (std::size_t level = 0; level < kSpotLevels; ++level) {
    Json off{{"off", numbers_json(check.off_numbers[level])}};
    if (const auto& worst = check.worst[level])
      off["worst"] = {json_number(worst->number), json_number(worst->dumped),
                      json_number(worst->recomputed), json_number(worst->explained)};
    levels.push_back(std::move(off));
  }
  return {{"model_bytes", json_number(check.model_bytes)},
          {"least_level", json_number(std::uint64_t{check.least_level})},
          {"first_level", json_number(std::uint64_t{check.first_level})},
          {"checked", json_number(check.checked)},
          {"overflowed", json_number(check.overflowed)},
          {"off_square", json_number(check.off_square)},
          {"square", json_number(check.square)},
          {"product", check.product},
          {"read", numbers_json(check.read)},
          {"why", check.why},
          {"terms", json_number(check.terms)},
          {"ran_out", check.ran_out},
          {"levels", std::move(levels)}};
}

OffElement read_worst(const JsonNode& node) {
  std::vector<double> values;
  std::uint64_t number = 0;
  node.each([&](const JsonNode& item) {
    if (values.empty()) number = item.count();
    values.push_back(item.number());
  });
  if (values.size() != 4) {
    node.fail("is not an element and three numbers");
    return {};
  }
  return {number, values[1], values[2], values[3]};
}

SideCheck read_check(const JsonNode& node) {
  SideCheck check;
  check.model_bytes = node["model_bytes"].count();
  check.least_level = node["least_level"].count();
  check.first_level = node["first_level"].count();
  check.checked = node["checked"].count();
  check.overflowed = node["overflowed"].count();
  check.off_square = node["off_square"].amount();
  check.square = node["square"].amount();
  check.product = node["product"].flag();
  check.why = node["why"].text();
  check.terms = node["terms"].count();
  check.ran_out = node["ran_out"].flag();
  node["read"].each([&](const JsonNode& value) {
    check.read.push_back(static_cast<std::uint32_t>(value.integer(0, UINT32_MAX)));
  });
  std::size_t levels = 0;
  node["levels"].each([&](const JsonNode& level) {
    const std::size_t at = levels++;
    if (at >= kSpotLevels) return;
    level["off"].each(
        [&](const JsonNode& number) { check.off_numbers[at].push_back(number.count()); });
    check.off[at] = check.off_numbers[at].size();
    if (level.has("worst")) check.worst[at] = read_worst(level["worst"]);
    if (check.off[at] > 0 && !check.worst[at]) level.fail("has wrong elements but no 'worst'");
  });
  if (levels != kSpotLevels) node["levels"].fail("do not have an entry for each precision");
  if (check.first_level >= kSpotLevels) node["first_level"].fail("is not one of the precisions");
  return check;
}

}  // namespace

PartLine part_line(const LayerItem& item) {
  const MeasuredLayer& measured = item.measured;
  std::string result = result_of(measured);
  Json json{{"number", json_number(item.number)},
            {"layer", item.name},
            {"result", result},
            {"trouble", measured.trouble.empty() ? Json() : Json(measured.trouble)}};
  if (measured.unread) json["unread"] = true;
  report::add_figures(json, measured.figures);
  Json runs = Json::array();
  if (measured.figures)
    for (const ElementRun& run : measured.figures->worst_runs)
      runs.push_back({json_number(run.first), json_number(run.count)});
  json["worst_runs"] = std::move(runs);
  if (measured.check != nullptr) json["check"] = check_json(*measured.check);
  json["actual"] = item.actual_path;
  json["golden"] = item.golden_path;
  if (!measured.inputs.empty()) {
    Json& inputs = json["inputs"] = Json::array();
    for (const auto& [path, state] : measured.inputs) inputs.push_back(path);
  }
  return {.number = item.number,
          .result = std::move(result),
          .found = report::dump_exact(std::move(json))};
}

Result<LayerItem> read_layer_item(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  LayerItem item{.number = node["number"].count(),
                 .name = node["layer"].text(),
                 .actual_path = node["actual"].text(),
                 .golden_path = node["golden"].text()};
  if (!node["trouble"].null()) item.measured.trouble = node["trouble"].text();
  if (node.has("unread")) item.measured.unread = node["unread"].flag();
  if (!node["elements"].null()) item.measured.figures = report::read_figures(node);
  if (node.has("check"))
    item.measured.check = std::make_shared<SideCheck>(read_check(node["check"]));
  node["worst_runs"].each([&](const JsonNode& run) {
    std::vector<std::uint64_t> numbers;
    run.each([&](const JsonNode& number) { numbers.push_back(number.count()); });
    if (numbers.size() != 2) return run.fail("is not a first element and a count");
    if (item.measured.figures)
      item.measured.figures->worst_runs.push_back({numbers[0], numbers[1]});
  });
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return item;
}

std::vector<PlannedPair> plan_of(std::span<const PlannedLayer> layers) {
  std::vector<PlannedPair> items;
  items.reserve(layers.size());
  for (const PlannedLayer& layer : layers)
    items.push_back({.name = layer.name,
                     .actual_bytes = layer.actual_bytes,
                     .golden_bytes = layer.golden_bytes,
                     .bytes = layer.actual_bytes + layer.golden_bytes});
  return items;
}

Result<MeasuredLayers> read_measured_layers(const Parts& parts, std::vector<std::string> deciding,
                                            const Execution& execution) {
  return shards::read_measured<PlannedLayer, MeasuredLayer>(parts, std::move(deciding),
                                                            read_layer_item, "layer", execution);
}

namespace {

Json value_json(const ValueNoise& value) {
  if (!value.trouble.empty()) return {{"trouble", value.trouble}};
  if (!value.known) return nullptr;
  const TensorMeasure& measure = value.measure;
  return {{"floating", value.floating},
          {"elements", json_number(measure.elements)},
          {"nan", json_number(measure.nan)},
          {"inf", json_number(measure.infinite)},
          {"largest", json_number(measure.largest)},
          {"smallest", json_number(measure.smallest)},
          {"squares", json_number(measure.squares)},
          {"error_squares", json_number(measure.error_squares)},
          {"above", json_number(measure.above)},
          {"beyond", json_number(measure.beyond)},
          {"lost", json_number(measure.lost)}};
}

ValueNoise read_value_of_part(const JsonNode& node) {
  if (node.null()) return {};
  ValueNoise unread;
  if (node.has("trouble")) {
    unread.trouble = node["trouble"].text();
    return unread;
  }
  ValueNoise value{.measure = {.elements = node["elements"].count(),
                               .nan = node["nan"].count(),
                               .infinite = node["inf"].count(),
                               .largest = node["largest"].amount(),
                               .smallest = node["smallest"].amount(),
                               .squares = node["squares"].amount(),
                               .error_squares = node["error_squares"].amount(),
                               .above = node["above"].count(),
                               .beyond = node["beyond"].count(),
                               .lost = node["lost"].count()},
                   .known = true,
                   .floating = node["floating"].flag()};
  const TensorMeasure& measure = value.measure;
  if (measure.nan > measure.elements || measure.infinite > measure.elements - measure.nan)
    node["nan"].fail("is, with inf, more than all elements");
  value.noise = measure.noise();
  return value;
}

Json effect_json(const InputEffect& effect) {
  return {{"input", json_number(std::uint64_t{effect.input})},
          {"noise", json_number(effect.noise)},
          {"error", json_number(effect.error)},
          {"nonfinite", json_number(effect.nonfinite)},
          {"nan", json_number(effect.nan)},
          {"infinite_from", json_number(effect.infinite_from)},
          {"zeroed", json_number(effect.zeroed)},
          {"rms", json_number(effect.rms)},
          {"gain", json_number(effect.gain)},
          {"carried", json_number(effect.carried)},
          {"passes_on", effect.passes_on}};
}

InputEffect read_effect(const JsonNode& node) {
  return {.input = node["input"].count(),
          .noise = node["noise"].number(),
          .error = node["error"].number(),
          .nonfinite = node["nonfinite"].count(),
          .nan = node["nan"].count(),
          .infinite_from = node["infinite_from"].number(),
          .zeroed = node["zeroed"].count(),
          .rms = node["rms"].number(),
          .gain = node["gain"].number(),
          .carried = node["carried"].number(),
          .passes_on = node["passes_on"].flag()};
}

Json layer_json(const NodeMeasure& measure) {
  Json inputs = Json::array();
  for (const InputEffect& effect : measure.inputs) inputs.push_back(effect_json(effect));
  return {{"trouble", measure.trouble.empty() ? Json() : Json(measure.trouble)},
          {"averages", measure.averages},
          {"terms", json_number(measure.terms)},
          {"rms", json_number(measure.rms)},
          {"inside", json_number(measure.inside)},
          {"variance_error", json_number(measure.variance_error)},
          {"work", json_number(measure.work)},
          {"inputs", std::move(inputs)}};
}

NodeMeasure read_layer(const JsonNode& node) {
  NodeMeasure measure{.trouble = {},
                      .inputs = {},
                      .with_infinite = {},
                      .averages = node["averages"].flag(),
                      .terms = node["terms"].number(),
                      .rms = node["rms"].number(),
                      .inside = node["inside"].number(),
                      .work = node["work"].count(),
                      .variance_error = node["variance_error"].number()};
  if (!node["trouble"].null()) measure.trouble = node["trouble"].text();
  node["inputs"].each(
      [&](const JsonNode& effect) { measure.inputs.push_back(read_effect(effect)); });
  return measure;
}

Json type_json(const FitMeasures::TypeMeasures& type) {
  Json json{{"tensors", Json::array()}};
  for (const ValueNoise& value : type.values) json["tensors"].push_back(value_json(value));
  if (type.node) json["layer"] = layer_json(type.node->plain);
  if (type.node && type.node->typical) json["lucky"] = layer_json(*type.node->typical);
  if (!type.trouble.empty()) json["trouble"] = type.trouble;
  return json;
}

FitMeasures::TypeMeasures read_type(const JsonNode& node) {
  FitMeasures::TypeMeasures type;
  node["tensors"].each(
      [&](const JsonNode& value) { type.values.push_back(read_value_of_part(value)); });
  if (node.has("layer")) {
    type.node.emplace(NodeVariants{.plain = read_layer(node["layer"])});
    if (node.has("lucky")) type.node->typical = read_layer(node["lucky"]);
  }
  if (node.has("trouble")) type.trouble = node["trouble"].text();
  return type;
}

Json run_json(const FitMeasures::RunMeasures& run) {
  Json json{{"types", Json::array()}};
  for (const FitMeasures::TypeMeasures& type : run.types) json["types"].push_back(type_json(type));
  if (run.gains.empty()) return json;
  for (const UniformGains& gains : run.gains) {
    Json& list = json["gains"].emplace_back(Json::array());
    for (const auto& gain : gains) list.push_back(gain ? json_number(*gain) : Json());
  }
  return json;
}

FitMeasures::RunMeasures read_run(const JsonNode& node) {
  FitMeasures::RunMeasures run;
  node["types"].each([&](const JsonNode& type) { run.types.push_back(read_type(type)); });
  if (!node.has("gains")) return run;
  node["gains"].each([&](const JsonNode& list) {
    UniformGains& gains = run.gains.emplace_back();
    list.each([&](const JsonNode& gain) {
      gains.push_back(gain.null() ? std::nullopt : std::optional(gain.number()));
    });
  });
  return run;
}

Json scales_json(const ScaledMeasure& scales) {
  Json json{{"types", Json::array()}};
  for (const FitScaledTensor& type : scales.types)
    json["types"].push_back(report::scaled_tensor_json(type));
  if (!scales.trouble.empty()) json["trouble"] = scales.trouble;
  if (scales.unread) json["unread"] = true;
  return json;
}

ScaledMeasure read_scales(const JsonNode& node) {
  ScaledMeasure scales;
  node["types"].each(
      [&](const JsonNode& type) { scales.types.push_back(report::read_scaled_tensor(type)); });
  if (node.has("trouble")) scales.trouble = node["trouble"].text();
  if (node.has("unread")) scales.unread = node["unread"].flag();
  return scales;
}

}  // namespace

PartLine part_line(const FitPartItem& item) {
  const FitMeasures& measures = *item.measured.measures;
  std::string result = item.measured.trouble.empty() ? "measured" : "trouble";
  Json json{{"number", json_number(item.number)},
            {"item", item.name},
            {"result", result},
            {"runs", Json::array()}};
  for (const FitMeasures::RunMeasures& run : measures.runs) json["runs"].push_back(run_json(run));
  if (!measures.scales.empty()) {
    Json& scales = json["scales"] = Json::array();
    for (const ScaledMeasure& one : measures.scales) scales.push_back(scales_json(one));
  }
  Json& inputs = json["inputs"] = Json::array();
  for (const auto& [path, state] : item.measured.files) inputs.push_back(path);
  return {.number = item.number,
          .result = std::move(result),
          .found = report::dump_exact(std::move(json))};
}

Result<FitPartItem> read_fit_item(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_exact(line, "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  auto measures = std::make_shared<FitMeasures>();
  node["runs"].each([&](const JsonNode& run) { measures->runs.push_back(read_run(run)); });
  if (node.has("scales"))
    node["scales"].each([&](const JsonNode& one) { measures->scales.push_back(read_scales(one)); });
  FitPartItem item{.number = node["number"].count(),
                   .name = node["item"].text(),
                   .measured = {.measures = std::move(measures)}};
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return item;
}

std::vector<PlannedPair> plan_of(std::span<const PlannedFit> items) {
  std::vector<PlannedPair> pairs;
  pairs.reserve(items.size());
  for (const PlannedFit& item : items)
    pairs.push_back({.name = item.signature,
                     .actual_bytes = item.bytes,
                     .golden_bytes = item.read_bytes,
                     .bytes = item.bytes + item.read_bytes});
  return pairs;
}

Result<MeasuredFits> read_measured_fit(const Parts& parts, std::vector<std::string> deciding,
                                       const Execution& execution) {
  return shards::read_measured<PlannedFit, MeasuredFit>(parts, std::move(deciding), read_fit_item,
                                                        "item", execution);
}

}  // namespace btf
