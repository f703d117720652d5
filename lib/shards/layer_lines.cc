#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "btf/shards/layer_part.h"
#include "btf/try.h"
#include "diff/layers/spot/check.h"
#include "report/layers/json.h"
#include "report/text/exact_json.h"
#include "report/text/json_node.h"
#include "shards/measured_items.h"

namespace btf {

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
    if (check.off[at] > 0 && !check.worst[at]) level.fail("has elements that are off and no worst");
  });
  if (levels != kSpotLevels) node["levels"].fail("are not as many as there are precisions");
  if (check.first_level >= kSpotLevels) node["first_level"].fail("is none of the precisions");
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

}  // namespace btf
