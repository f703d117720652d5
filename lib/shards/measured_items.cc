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

}  // namespace btf

namespace btf::report {
namespace {

std::string result_of(const MeasuredLayer& measured) {
  if (!measured.trouble.empty()) return "trouble";
  const auto& figures = measured.figures;
  return figures && figures->equal == figures->pairs && figures->one_sided() == 0 ? "same"
                                                                                  : "different";
}

std::string result_of(const MeasuredFit& measured) {
  return measured.trouble.empty() ? "measured" : "trouble";
}

}  // namespace

// --- What an item of layers consists of ---

namespace {

Json worst_json(const std::optional<OffElement>& worst) {
  return {json_number(worst->number), json_number(worst->dumped), json_number(worst->recomputed),
          json_number(worst->explained)};
}

void read_worst(const JsonNode& node, std::optional<OffElement>& worst) {
  std::vector<double> values;
  std::uint64_t number = 0;
  node.each([&](const JsonNode& item) {
    if (values.empty()) number = item.count();
    values.push_back(item.number());
  });
  if (values.size() != 4) return node.fail("is not an element and three numbers");
  worst = {number, values[1], values[2], values[3]};
}

// The elements that are off by the rounding of one precision.
void visit_level(auto& fields, auto& check, std::size_t level) {
  fields.counts("off", check.off_numbers[level]);
  fields.custom_if(check.worst[level].has_value(), "worst", check.worst[level], worst_json,
                   read_worst);
}

Json levels_json(const SideCheck& check) {
  Json levels = Json::array();
  for (std::size_t level = 0; level < kSpotLevels; ++level)
    levels.push_back(object_of([&](auto& fields) { visit_level(fields, check, level); }));
  return levels;
}

void read_levels(const JsonNode& node, SideCheck& check) {
  std::size_t levels = 0;
  node.each([&](const JsonNode& item) {
    const std::size_t level = levels++;
    if (level >= kSpotLevels) return;
    read_object(item, [&](auto& fields) { visit_level(fields, check, level); });
    check.off[level] = check.off_numbers[level].size();
    if (check.off[level] > 0 && !check.worst[level]) item.fail("has wrong elements but no 'worst'");
  });
  if (levels != kSpotLevels) node.fail("do not have an entry for each precision");
}

}  // namespace

template <>
struct Fields<SideCheck> {
  static void visit(auto& fields, auto& check) {
    fields("model_bytes", check.model_bytes);
    fields("least_level", check.least_level);
    fields("first_level", check.first_level);
    fields("checked", check.checked);
    fields("overflowed", check.overflowed);
    fields.amount("off_square", check.off_square);
    fields.amount("square", check.square);
    fields("product", check.product);
    fields.counts("read", check.read);
    fields("why", check.why);
    fields("terms", check.terms);
    fields("ran_out", check.ran_out);
    fields.custom("levels", check, levels_json, read_levels);
  }
  static void check(const JsonNode& node, const SideCheck& check) {
    if (check.first_level >= kSpotLevels) node["first_level"].fail("is not one of the precisions");
  }
};

namespace {

Json runs_json(const std::optional<LayerFigures>& figures) {
  Json runs = Json::array();
  if (figures)
    for (const ElementRun& run : figures->worst_runs)
      runs.push_back({json_number(run.first), json_number(run.count)});
  return runs;
}

void read_runs(const JsonNode& node, std::optional<LayerFigures>& figures) {
  node.each([&](const JsonNode& run) {
    std::vector<std::uint64_t> numbers;
    run.each([&](const JsonNode& number) { numbers.push_back(number.count()); });
    if (numbers.size() != 2) return run.fail("is not a first element and a count");
    if (figures) figures->worst_runs.push_back({numbers[0], numbers[1]});
  });
}

// The files that were read; their states are not in the line's results.
Json paths_json(const auto& files) {
  Json paths = Json::array();
  for (const auto& [path, state] : files) paths.push_back(path);
  return paths;
}

}  // namespace

template <>
struct Fields<LayerItem> {
  static void visit(auto& fields, auto& item) {
    auto& measured = item.measured;
    fields("number", item.number);
    fields("layer", item.name);
    fields.derived("result", [&] { return result_of(measured); });
    fields.or_null("trouble", measured.trouble);
    fields.if_set("unread", measured.unread);
    visit_figures(fields, measured.figures);
    fields.custom("worst_runs", measured.figures, runs_json, read_runs);
    fields.custom_if(
        measured.check != nullptr, "check", measured.check,
        [](const auto& check) { return json_of(*check); },
        [](const JsonNode& node, auto& check) {
          check = std::make_shared<SideCheck>(read<SideCheck>(node));
        });
    fields("actual", item.actual_path);
    fields("golden", item.golden_path);
    if (!measured.inputs.empty())
      fields.derived("inputs", [&] { return paths_json(measured.inputs); });
  }
};

// --- What an item of fit consists of ---

template <>
struct Fields<ValueNoise> {
  static void visit(auto& fields, auto& value) {
    auto& measure = value.measure;
    fields("floating", value.floating);
    fields("elements", measure.elements);
    fields("nan", measure.nan);
    fields("inf", measure.infinite);
    fields.amount("largest", measure.largest);
    fields.amount("smallest", measure.smallest);
    fields.amount("squares", measure.squares);
    fields.amount("error_squares", measure.error_squares);
    fields("above", measure.above);
    fields("beyond", measure.beyond);
    fields("lost", measure.lost);
  }
  static void check(const JsonNode& node, const ValueNoise& value) {
    const TensorMeasure& measure = value.measure;
    if (measure.nan > measure.elements || measure.infinite > measure.elements - measure.nan)
      node["nan"].fail("is, with inf, more than all elements");
  }
};

template <>
struct Fields<InputEffect> {
  static void visit(auto& fields, auto& effect) {
    fields("input", effect.input);
    fields("noise", effect.noise);
    fields("error", effect.error);
    fields("nonfinite", effect.nonfinite);
    fields("nan", effect.nan);
    fields("infinite_from", effect.infinite_from);
    fields("zeroed", effect.zeroed);
    fields("rms", effect.rms);
    fields("gain", effect.gain);
    fields("carried", effect.carried);
    fields("passes_on", effect.passes_on);
  }
};

template <>
struct Fields<NodeMeasure> {
  static void visit(auto& fields, auto& measure) {
    fields.or_null("trouble", measure.trouble);
    fields("averages", measure.averages);
    fields("terms", measure.terms);
    fields("rms", measure.rms);
    fields("inside", measure.inside);
    fields("variance_error", measure.variance_error);
    fields("work", measure.work);
    fields("inputs", measure.inputs);
  }
};

namespace {

// A value that was not measured is null, or an object with the trouble.
Json values_json(const std::vector<ValueNoise>& values) {
  Json list = Json::array();
  for (const ValueNoise& value : values)
    list.push_back(!value.trouble.empty() ? Json{{"trouble", value.trouble}}
                   : value.known          ? json_of(value)
                                          : Json());
  return list;
}

void read_values(const JsonNode& node, std::vector<ValueNoise>& values) {
  node.each([&](const JsonNode& item) {
    ValueNoise& value = values.emplace_back();
    if (item.null()) return;
    if (item.has("trouble")) {
      value.trouble = item["trouble"].text();
      return;
    }
    read(item, value);
    value.known = true;
    value.noise = value.measure.noise();
  });
}

}  // namespace

template <>
struct Fields<FitMeasures::TypeMeasures> {
  static void visit(auto& fields, auto& type) {
    fields.custom("tensors", type.values, values_json, read_values);
    fields.custom_if(
        type.node.has_value(), "layer", type.node,
        [](const auto& node) { return json_of(node->plain); },
        [](const JsonNode& node, auto& variants) { read(node, variants.emplace().plain); });
    fields.custom_if(
        type.node && type.node->typical, "lucky", type.node,
        [](const auto& node) { return json_of(*node->typical); },
        [](const JsonNode& node, auto& variants) {
          if (variants) read(node, variants->typical.emplace());
        });
    fields.if_set("trouble", type.trouble);
  }
};

template <>
struct Fields<FitMeasures::RunMeasures> {
  static void visit(auto& fields, auto& run) {
    fields("types", run.types);
    fields.if_set("gains", run.gains);
  }
};

template <>
struct Fields<ScaledMeasure> {
  static void visit(auto& fields, auto& scales) {
    fields("types", scales.types);
    fields.if_set("trouble", scales.trouble);
    fields.if_set("unread", scales.unread);
  }
};

template <>
struct Fields<FitMeasures> {
  static void visit(auto& fields, auto& measures) {
    fields("runs", measures.runs);
    fields.if_set("scales", measures.scales);
  }
};

template <>
struct Fields<FitPartItem> {
  static void visit(auto& fields, auto& item) {
    auto& measured = item.measured;
    fields("number", item.number);
    fields("item", item.name);
    fields.derived("result", [&] { return result_of(measured); });
    if constexpr (kReads<decltype(fields)>)
      measured.measures = std::make_shared<FitMeasures>(read<FitMeasures>(fields.node()));
    else
      fields.members(json_of(*measured.measures));
    fields.derived("inputs", [&] { return paths_json(measured.files); });
  }
};

namespace {

template <typename Item>
PartLine line_of(const Item& item) {
  Json json = json_of(item);
  return {.number = item.number,
          .result = json["result"].template get<std::string>(),
          .found = dump_exact(std::move(json))};
}

template <typename Item>
Result<Item> read_line(std::string_view line) {
  BTF_ASSIGN(const Json json, parse_exact(line, "an item of a part"));
  std::string trouble;
  auto item = read<Item>(JsonNode(json, trouble));
  if (!trouble.empty()) return std::unexpected(Error{ErrorCode::malformed, trouble});
  return item;
}

}  // namespace
}  // namespace btf::report

namespace btf {

PartLine part_line(const LayerItem& item) { return report::line_of(item); }

Result<LayerItem> read_layer_item(std::string_view line) {
  return report::read_line<LayerItem>(line);
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

PartLine part_line(const FitPartItem& item) { return report::line_of(item); }

Result<FitPartItem> read_fit_item(std::string_view line) {
  return report::read_line<FitPartItem>(line);
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
