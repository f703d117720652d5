// The page of fit: for each type its verdict, a chart of ranges, its layers and its tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "btf/fit.h"
#include "btf/report.h"
#include "report/fit/text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr auto kFitLayers = std::to_array<PageColumn>({
    {"#", "number", "count"},
    {"layer", "name", "name", "path"},
    {"operator", "op"},
    {"result", "fits", "result"},
    {"why", "words", "text", "why"},
});

constexpr auto kFitTensors = std::to_array<PageColumn>({
    {"tensor", "title", "name", "path"},
    {"elements", "elements", "count"},
    {"smallest", "smallest", "number"},
    {"largest", "largest", "number"},
    {"margin", "margin", "number"},
    {"error", "error_words", "number"},
    {"become Inf", "beyond", "count"},
    {"become 0", "lost", "count"},
    {"", "mark"},
    {"", "told"},
});

constexpr auto kScaledLayers = std::to_array<PageColumn>({
    {"layer", "name", "name", "path"},
    {"operator", "op"},
    {"error", "error_words", "number"},
    {"share of the noise", "share", "share"},
});

constexpr auto kScaledTensors = std::to_array<PageColumn>({
    {"tensor", "title", "name", "path"},
    {"result", "held", "result"},
    {"by", "best"},
    {"scale", "scale", "number"},
    {"SNR", "snr", "number"},
    {"clipped", "clipped", "share"},
    {"lost", "lost_words", "share"},
    {"channels", "channels_snr", "number"},
    {"remarks", "remarks", "text", "why"},
});

// A number that is shown in words.
Json worded(double number, const std::string& text) {
  return {{"key", json_number(number)}, {"text", text}};
}

Json title_of(const std::string& name, bool weight) {
  return weight ? Json::array({name, "weight"}) : Json(name);
}

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

// "2 of 10 layers must stay float32; 3 cannot be judged"
std::string verdict_of(const FitOfType& type) {
  if (!type.layers.empty()) return verdict_words(type);
  const auto poor =
      std::ranges::count_if(type.tensors, [&](const FitTensor& t) { return is_poor(t, type); });
  return poor == 0 ? "the numbers of all " + counted(type.tensors.size(), "tensor") + " fit"
                   : fmt::format("the numbers of {} of {} do not fit", poor,
                                 counted(type.tensors.size(), "tensor"));
}

// The tensors that one scale does not hold are named, as many as a line has room for.
std::string verdict_of(const FitOfScales& type) {
  constexpr std::size_t kNamed = 3;
  std::size_t bad = 0;
  std::string names;
  for (const FitScaledTensor& tensor : type.tensors) {
    if (is_held(tensor)) continue;
    if (++bad <= kNamed) names += (bad == 1 ? "" : ", ") + printable(tensor.name);
  }
  if (bad == 0) return "one scale holds each of " + counted(type.tensors.size(), "tensor");
  return fmt::format("{} of {} {} not held by one scale: {}{}", bad,
                     counted(type.tensors.size(), "tensor"), bad == 1 ? "is" : "are", names,
                     bad > kNamed ? ", ..." : "");
}

std::string told_of(const FitTensor& tensor) {
  std::string text =
      tensor.name + ": " + size_words(tensor.smallest) + " to " + size_words(tensor.largest);
  if (tensor.beyond > 0) text += "; " + html_count(tensor.beyond) + " become Inf";
  if (tensor.lost > 0) text += "; " + html_count(tensor.lost) + " become 0";
  return text;
}

// The axis begins where numbers matter to the type and to the largest of them: below that they are
// drawn at the bottom.
Json range_chart(const FitOfType& type, const std::string& table) {
  constexpr double kBelowType = 100;
  constexpr double kBelowLargest = 1e12;
  double most = 0;
  for (const FitTensor& tensor : type.tensors)
    if (std::isfinite(tensor.largest)) most = std::max(most, tensor.largest);
  return {{"view", "chart"},
          {"label", "smallest and largest number of each tensor"},
          {"tables", {table}},
          {"ranges", {{"noise", "smallest", "largest"}}},
          {"levels", {json_number(type.largest), json_number(type.smallest)}},
          {"floor", std::max(type.smallest / kBelowType, most / kBelowLargest)},
          {"low", true},
          {"legend",
           {{"noise", "numbers of each tensor, smallest to largest"},
            {"worst", "smallest and largest of the type"},
            {"root", fmt::format("suffers: numbers become Inf, or rounding is off by more than {}",
                                 part_words(kPoorSteps * type.unit_roundoff))}}}};
}

std::string remarks_of(const FitScaledTensor& tensor) {
  std::string text;
  if (tensor.state == FitScaling::nonfinite)
    text = fmt::format("{} NaN and {} Inf, which no code can represent. ", html_count(tensor.nan),
                       html_count(tensor.infinite));
  if (tensor.scales.empty()) text += "no numbers but zeros";
  if (tensor.channels && tensor.channels->outlier) {
    const FitOutlier& outlier = *tensor.channels->outlier;
    text += fmt::format(
        "channel {} of {} (dim {}) has numbers up to {}, the median channel up to "
        "{}; with a scale of its own: {}",
        outlier.channel, tensor.channels->count, tensor.channels->axis, size_words(outlier.largest),
        size_words(outlier.median), decibel_words(outlier.snr));
  }
  return text;
}

class FitPage {
 public:
  FitPage(const FitReport& report, const PageOrigin& origin)
      : report_(report), page_(origin, "btftool fit") {}

  std::string html() {
    head();
    page_.view({{"view", "filter"}});
    for (const FitOfType& type : report_.types) section(type);
    for (const FitOfScales& type : report_.scaled) section(type);
    return page_.html(
        "Numbers are magnitudes, without NaN, Inf and zeros. Margin: the type's largest number by "
        "the tensor's. Error: of rounding to the type, root mean square, by that of the tensor. "
        "Errors of outputs are estimates to an order of magnitude.");
  }

 private:
  void head() {
    const bool fit = fits(report_);
    std::string words;
    for (const FitOfType& type : report_.types)
      words += (words.empty() ? "" : "; ") + name_of(type.dtype) + ": " + verdict_of(type);
    for (const FitOfScales& type : report_.scaled)
      words += (words.empty() ? "" : "; ") + name_of(type.dtype) + ": " + verdict_of(type);
    const std::string result = fit                     ? "fits"
                               : report_.types.empty() ? "does not fit"
                                                       : "must stay wide";
    page_.verdict(result, fit ? "same" : "", words, result + ": " + words);
    for (const std::string& dump : report_.dumps) page_.fact("dump", html_name(dump));
    page_.fact("graph", report_.graph
                            ? html_name(*report_.graph)
                            : "none: no layer can be judged, as a model says what is computed "
                              "from what");
    if (report_.integers > 0)
      page_.fact_text("left out", counted(report_.integers, "tensor") +
                                      " of dtypes that are not floating-point");
    if (!report_.unused.empty())
      page_.fact_text("left out", counted(report_.unused.size(), "tensor") +
                                      " that are not in the graph, such as " +
                                      quoted_name(report_.unused.front()));
    for (const std::string& text : report_.warnings) page_.fact_text("warning", text);
    for (const std::string& text : report_.troubles) page_.fact_text("trouble", text);
  }

  void section(const FitOfType& type) {
    const std::string name = name_of(type.dtype);
    page_.heading(name + ": " + verdict_of(type));
    for (const FitOutput& output : type.outputs) page_.note(output_words(output, type));
    page_.view(range_chart(type, name + " tensors"));
    struct Part {
      FitState state;
      const char* one;
      const char* many;
    };
    for (const Part& part :
         {Part{FitState::wide, "layer must stay float32", "layers must stay float32"},
          Part{FitState::unjudged, "layer cannot be judged", "layers cannot be judged"},
          Part{FitState::narrow, "layer fits", "layers fit"}}) {
      PageTable table(name + " " + std::string(fit_state_name(part.state)), kFitLayers);
      for (std::size_t i = 0; i < type.layers.size(); ++i)
        if (type.layers[i].state == part.state) table.add(row_of(type.layers[i], i, type));
      if (table.rows() == 0) continue;
      const std::string title =
          html_count(table.rows()) + " " + (table.rows() == 1 ? part.one : part.many);
      if (part.state == FitState::wide) page_.heading(title, 3);
      page_.table(table, part.state == FitState::wide ? std::string_view() : title);
    }
    PageTable tensors(name + " tensors", kFitTensors);
    for (const FitTensor& tensor : type.tensors) {
      Json row = tensor_json(tensor);
      row["title"] = title_of(tensor.name, tensor.weight);
      row["error_words"] = worded(tensor.error, part_words(tensor.error));
      row["told"] = told_of(tensor);
      if (is_poor(tensor, type)) row["mark"] = "root";
      tensors.add(row);
    }
    if (tensors.rows() > 0) page_.table(tensors, counted(tensors.rows(), "tensor"));
  }

  // The first finding is the main one.
  Json row_of(const FitLayer& layer, std::size_t number, const FitOfType& type) const {
    Json row = layer_json(layer, type);
    row["number"] = number + 1;
    row["fits"] = layer.state == FitState::wide     ? "float32"
                  : layer.state == FitState::narrow ? "fits"
                                                    : "not judged";
    row["words"] = Json::array();
    if (!layer.why.empty()) row["words"].push_back(layer.why);
    for (const FitFinding& finding : layer.findings)
      row["words"].push_back(finding_words(finding, type, report_.dumps.size()));
    return row;
  }

  void section(const FitOfScales& type) {
    const std::string name = name_of(type.dtype);
    page_.heading(name + ": " + verdict_of(type));
    for (const FitScaledOutput& output : type.outputs)
      page_.note("output " + quoted_name(output.name) + ": an error of " +
                 magnitude_words(output.error) + " with all layers in " + name +
                 " (an estimate, to an order of magnitude)");
    PageTable layers(name + " layers", kScaledLayers);
    for (const FitScaledLayer& layer : type.layers)
      layers.add({{"name", layer.name},
                  {"op", layer.op},
                  {"error_words", worded(layer.error, magnitude_words(layer.error))},
                  {"share", json_number(layer.share)}});
    if (layers.rows() > 0)
      page_.table(layers, html_count(layers.rows()) +
                              " layers, those first that are to be kept wide first");
    PageTable tensors(name + " tensors", kScaledTensors);
    for (const bool held : {false, true})
      for (const FitScaledTensor& tensor : type.tensors)
        if (is_held(tensor) == held) tensors.add(row_of(tensor));
    if (tensors.rows() > 0) page_.table(tensors, counted(tensors.rows(), "tensor"));
  }

  static Json row_of(const FitScaledTensor& tensor) {
    Json row = json_of(tensor);
    row["title"] = title_of(tensor.name, tensor.weight);
    row["held"] = is_held(tensor) ? "held" : "not held";
    row["remarks"] = remarks_of(tensor);
    if (tensor.scales.empty()) return row;
    const FitScale& best = tensor.scales[tensor.best];
    row["scale"] = json_number(best.scale);
    row["snr"] = worded(best.snr, decibel_words(best.snr));
    if (tensor.channels)
      row["channels_snr"] = worded(tensor.channels->snr, decibel_words(tensor.channels->snr));
    row["clipped"] = static_cast<double>(best.clipped) / static_cast<double>(tensor.elements);
    row["lost_words"] = worded(static_cast<double>(best.lost), lost_words(tensor, best));
    return row;
  }

  const FitReport& report_;
  Page page_;
};

}  // namespace
}  // namespace btf::report

namespace btf {

std::string html(const FitReport& report, const PageOrigin& origin) {
  return report::FitPage(report, origin).html();
}

}  // namespace btf
