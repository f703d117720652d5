#include <memory>
#include <utility>
#include <vector>

#include "btf/shards/layer_part.h"
#include "btf/try.h"
#include "report/layers/json.h"
#include "report/text/json_node.h"
#include "report/text/json_parse.h"

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

}  // namespace

PartLine part_line(const LayerItem& item) {
  const MeasuredLayer& measured = item.measured;
  std::string result = result_of(measured);
  Json json{{"number", json_number(item.number)},
            {"layer", item.name},
            {"result", result},
            {"trouble", measured.trouble.empty() ? Json() : Json(measured.trouble)}};
  report::add_figures(json, measured.figures);
  Json runs = Json::array();
  if (measured.figures)
    for (const ElementRun& run : measured.figures->worst_runs)
      runs.push_back({json_number(run.first), json_number(run.count)});
  json["worst_runs"] = std::move(runs);
  json["actual"] = item.actual_path;
  json["golden"] = item.golden_path;
  return {.number = item.number, .result = std::move(result), .found = report::dump(json)};
}

Result<LayerItem> read_layer_item(std::string_view line) {
  BTF_ASSIGN(const Json json, report::parse_json(std::string(line), "an item of a part"));
  std::string trouble;
  const JsonNode node(json, trouble);
  LayerItem item{.number = node["number"].count(),
                 .name = node["layer"].text(),
                 .actual_path = node["actual"].text(),
                 .golden_path = node["golden"].text()};
  if (!node["trouble"].null()) item.measured.trouble = node["trouble"].text();
  if (!node["elements"].null()) item.measured.figures = report::read_figures(node);
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

MeasuredShare::MeasuredShare(const PartHead& head, std::vector<std::string> deciding)
    : plan_(head.plan), shards_(head.shard.of), deciding_(std::move(deciding)) {}

Result<MeasuredShare> MeasuredShare::read(const Parts& parts, std::vector<std::string> deciding,
                                          const Execution& execution) {
  MeasuredShare share(parts.head(), std::move(deciding));
  const auto parse = [&](std::string_view line) -> Result<TakeItem> {
    BTF_ASSIGN(LayerItem item, read_layer_item(line));
    const auto read = std::make_shared<LayerItem>(std::move(item));
    return [&share, read]() -> Status {
      if (read->number != share.layers_.size())
        return fail(ErrorCode::malformed,
                    "the parts have no layer " + std::to_string(share.layers_.size()));
      share.layers_.push_back(std::move(read->measured));
      return {};
    };
  };
  BTF_TRY(parts.each(parse, execution));
  return share;
}

Status MeasuredShare::plan(std::span<const PlannedLayer> layers) {
  if (layers.size() == layers_.size() &&
      plan_digest("layers", deciding_, shards_, plan_of(layers)) == plan_)
    return {};
  return fail(ErrorCode::refused,
              "the tensors, or a file that the options name, are not those that the parts were made "
              "of; run the shards again");
}

const MeasuredLayer* MeasuredShare::known(std::uint64_t number) const {
  return number < layers_.size() ? &layers_[number] : nullptr;
}

}  // namespace btf
