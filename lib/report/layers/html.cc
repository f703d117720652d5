// The page of layers: the layer of the verdict with its neighbours, a chart, and all layers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "btf/layers.h"
#include "btf/report.h"
#include "report/layers/json.h"
#include "report/layers/story.h"
#include "report/page/page.h"

namespace btf::report {
namespace {

constexpr auto kLayerColumns = std::to_array<PageColumn>({
    {"#", "number", "count"},
    {"layer", "layer", "name", "path"},
    {"operator", "op"},
    {"dtype", "types"},
    {"shape", "dims"},
    {"error", "e", "percent"},
    {"inputs", "e_in", "percent"},
    {"× explained", "b", "times"},
    {"worst part", "w", "percent"},
    {"recomputed", "recomputed", "count"},
    {"state", "words", "text", "state"},
    {"", "mark"},
    {"", "told"},
    {"", "noise"},
});

constexpr std::size_t kMostNeighbours = 8;  // of a kind

std::string layer_told(const Layer& layer, std::size_t number) {
  std::string text = fmt::format("{} {}: ", number + 1, layer.name());
  if (!layer.figures) return text + "not measured";
  return text +
         fmt::format("error {:.3g} %, worst part {:.3g} %, {:.3g} times what is explained, {}",
                     layer.figures->relative_error * 100, layer.figures->slice_error * 100,
                     layer.error_to_noise, state_text(layer));
}

// The number of elements that were recomputed from the inputs of the layer, or how many are wrong.
Json recomputed(const SpotCheck& spot) {
  if (spot.state == SpotState::unchecked) return {{"text", "–"}, {"key", -1}, {"title", spot.why}};
  return {{"text", spot.off == 0 ? fmt::format("{} follow", spot.checked)
                                 : fmt::format("{} of {} off", spot.off, spot.checked)},
          {"key", spot.off}};
}

Json layer_row(const LayerRun& run, std::size_t number) {
  const Layer& layer = run.report.layers[number];
  const auto name_of = [](const auto& dtype) {
    return dtype ? std::string(btf::info(*dtype).name) : std::string("unknown");
  };
  const std::string actual = name_of(layer.actual_dtype);
  const std::string golden = name_of(layer.golden_dtype);
  Json row = layer_json(run, layer);
  row["number"] = number + 1;
  row["layer"] = layer.name();
  row["types"] = actual == golden ? actual : actual + " against " + golden;
  row["dims"] = btf::dims_text(layer.golden_dims);
  row["told"] = layer_told(layer, number);
  if (!layer.figures)
    for (const char* const member : {"e_in", "b", "noise"}) row[member] = Json();
  if (layer.spot) row["recomputed"] = recomputed(*layer.spot);
  std::string state = state_text(layer);
  if (!layer.hints.empty()) {
    const Hint& hint = layer.hints.front();
    state += ": " + (hint.other_cause.empty() ? std::string(btf::cause_name(hint.cause))
                                              : hint.other_cause);
  }
  row["words"] = layer.note.empty() ? Json(state) : Json::array({state, layer.note});
  if (layer.state == LayerState::root) row["mark"] = "root";
  if (layer.state == LayerState::dump) row["mark"] = "dump";
  return row;
}

// The layers that the layer of the verdict reads, that layer, and those that read it. If the
// inputs of layers are not known: the layers before and after it.
class Neighbours {
 public:
  explicit Neighbours(const LayerRun& run) : run_(run) {
    const LayerReport& report = run.report;
    if (report.verdict.kind == VerdictKind::clean || !report.verdict.layer) return;
    const std::uint64_t subject = *report.verdict.layer;
    const Layer& layer = report.layers[subject];
    if (report.linked()) {
      for (const std::uint64_t input : layer.inputs) add("it reads", input);
      add("this one", subject);
      for (std::uint64_t i = 0; i < report.layers.size(); ++i)
        if (std::ranges::count(report.layers[i].inputs, subject) > 0) add("reads it", i);
    } else {
      if (subject > 0) add("before it", subject - 1);
      add("this one", subject);
      if (subject + 1 < report.layers.size()) add("after it", subject + 1);
    }
  }

  const PageTable& table() const { return table_; }

 private:
  static constexpr auto kNearColumns = [] {
    std::array<PageColumn, kLayerColumns.size() + 1> columns{};
    columns[0] = {"place", "where"};
    std::ranges::copy(kLayerColumns, columns.begin() + 1);
    return columns;
  }();

  void add(const char* where, std::uint64_t number) {
    std::size_t& count = counts_[std::string_view(where) == "reads it" ? 1 : 0];
    if (++count > kMostNeighbours && std::string_view(where) != "this one") return;
    Json row = layer_row(run_, number);
    row["where"] = where;
    table_.add(row);
  }

  const LayerRun& run_;
  std::array<std::size_t, 2> counts_{};
  PageTable table_{"near", kNearColumns};
};

Json layers_chart() {
  return {{"view", "chart"},
          {"label", "relative error of each layer"},
          {"tables", {"layers"}},
          {"lines", {{"error", "e"}, {"worst", "w"}}},
          {"bands", {{"limit", "noise", 2}, {"noise", "noise"}}},
          {"shares", true},
          {"legend",
           {{"error", "error"},
            {"worst", "worst part"},
            {"noise", "explained by inputs and dtype"},
            {"limit", "twice that"},
            {"root", "broke"},
            {"dump", "wrong dump"}}}};
}

std::string_view result_kind(VerdictKind kind) {
  if (kind == VerdictKind::clean) return "same";
  return kind == VerdictKind::broke || kind == VerdictKind::inputs ? "" : "trouble";
}

}  // namespace
}  // namespace btf::report

namespace btf {

std::string html(const LayerRun& run) {
  using namespace report;
  const Story story = story_of(run);
  Page page(run.origin, "btftool layers");
  page.verdict(story.headline, result_kind(run.report.verdict.kind), story.subject,
               story.headline + " " + story.subject);
  page.words(story.words);
  page.fact("actual", html_name(run.actual));
  page.fact("golden", html_name(run.golden));
  if (!story.where.empty()) page.fact_text("where", story.where);
  for (const Story::Line& line : story.lines)
    page.fact(line.title, line.title == "next" ? "<code>" + html_text(line.text) + "</code>"
                                               : html_text(line.text));
  if (const Neighbours near(run); near.table().rows() > 0) {
    page.heading("Around it");
    page.table(near.table());
  }
  PageTable table("layers", kLayerColumns);
  for (std::size_t i = 0; i < run.report.layers.size(); ++i) table.add(layer_row(run, i));
  page.view(layers_chart());
  if (table.rows() > 0) {
    page.heading("All layers");
    page.view({{"view", "filter"}});
    page.table(table);
  }
  return page.html(
      "Error: the root of the sum of squared errors, by that of golden. Inputs: the error of what "
      "the layer reads. × explained: the error by what inputs and dtype explain; a layer that is "
      "far "
      "above 1 broke. Worst part: the largest error of a part of the tensor.");
}

}  // namespace btf
