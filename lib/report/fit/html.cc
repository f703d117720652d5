// The HTML page of fit: layers, a chart of ranges, and scales.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "btf/fit.h"
#include "btf/report.h"
#include "report/fit/text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// If the limit of the dtype is further from all numbers than this factor, it has no line in the
// chart, because the numbers would be too small to see.
constexpr double kNear = 1e6;

bool drawable(const FitTensor& tensor) { return tensor.largest > 0; }

std::string told_of(const FitTensor& tensor) {
  std::string text = html_text(tensor.name) + ": " + size_words(tensor.smallest) + " to " +
                     size_words(tensor.largest);
  if (tensor.beyond > 0) text += "; " + html_count(tensor.beyond) + " become Inf";
  if (tensor.lost > 0) text += "; " + html_count(tensor.lost) + " become 0";
  return text;
}

// Returns an empty string if no tensor has a number above 0.
std::string fit_range_chart(const FitOfType& type) {
  const auto& tensors = type.tensors;
  double least = HUGE_VAL;
  double most = 0;
  for (const FitTensor& tensor : tensors) {
    if (!drawable(tensor)) continue;
    least = std::min(least, tensor.smallest);
    most = std::max(most, tensor.largest);
  }
  if (most == 0) return "";
  if (type.smallest > least / kNear) least = std::min(least, type.smallest);
  if (type.largest < most * kNear) most = std::max(most, type.largest);
  return html_chart(
      {.items = tensors.size(),
       .least = least,
       .most = most,
       .label = "smallest and largest number of each tensor",
       .legend = "<span class=noise>numbers of each tensor, smallest to largest</span> "
                 "<span class=worst>smallest and largest of the type</span> "
                 "<span class=root>suffers from the type</span>",
       .ranges = {{"noise", [&](std::size_t i) { return tensors[i].smallest; },
                   [&](std::size_t i) { return tensors[i].largest; }}},
       .levels = {{"worst", type.largest}, {"worst", type.smallest}},
       .shares = false,
       .known = [&](std::size_t i) { return drawable(tensors[i]); },
       .rank =
           [&](std::size_t i) {
             return (is_poor(tensors[i], type) ? 1e300 : 0) + tensors[i].largest;
           },
       .low_marks = true,
       .mark = [&](std::size_t i) { return is_poor(tensors[i], type) ? "root" : "plain"; },
       .title = [&](std::size_t i) { return told_of(tensors[i]); }});
}

constexpr std::string_view kTensorHead =
    "<th>tensor<th>by<th class=n>scale<th class=n>SNR<th class=n>clipped<th class=n>lost"
    "<th class=n>channels<th class=why>remarks";
constexpr std::string_view kLayerHead =
    "<th>layer<th>operator<th class=n>error<th class=n>share of the noise";

std::string remarks(const FitScaledTensor& tensor) {
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
  return html_text(text);
}

std::string row_of(const FitScaledTensor& tensor) {
  std::string row = "<tr><td class=path>" + html_name(tensor.name) +
                    (tensor.weight ? " <small>weight</small>" : "");
  if (!is_held(tensor)) row += " <span class=result>not held</span>";
  if (tensor.scales.empty()) {
    row += "<td class=type>–<td class=n>–<td class=n>–<td class=n>–<td class=n>–<td class=n>–";
  } else {
    const FitScale& best = tensor.scales[tensor.best];
    row += "<td class=type>" + html_text(fit_scale_method_name(best.method)) +
           html_figure("", "scale", best.scale, fmt::format("{:.9g}", best.scale)) +
           html_figure("", "SNR", best.snr, decibel_words(best.snr)) +
           html_figure("", "clipped", static_cast<double>(best.clipped),
                       percent(best.clipped, tensor.elements)) +
           html_figure("", "lost", static_cast<double>(best.lost), lost_words(tensor, best)) +
           (tensor.channels ? html_figure("", "channels", tensor.channels->snr,
                                          decibel_words(tensor.channels->snr))
                            : "<td class=n>–");
  }
  return row + "<td class=why>" + remarks(tensor) + "\n";
}

}  // namespace

std::string scales_verdict(const FitOfScales& type) {
  const auto bad = std::ranges::count_if(type.tensors, [](const auto& t) { return !is_held(t); });
  if (bad == 0) return "one scale holds each of " + counted(type.tensors.size(), "tensor");
  return fmt::format("{} of {} {} not held by one scale", bad,
                     counted(type.tensors.size(), "tensor"), bad == 1 ? "is" : "are");
}

std::string scales_section(const FitOfScales& type) {
  const std::string name(info(type.dtype).name);
  std::string html = "<section>\n<h2>" + name + ": " + html_text(scales_verdict(type)) + "</h2>\n";
  for (const FitScaledOutput& output : type.outputs)
    html += "<p class=note>output " + html_text(quoted_name(output.name)) + ": an error of " +
            magnitude_words(output.error) + " with all layers in " + name +
            " (an estimate, to an order of magnitude)</p>\n";
  std::string rows;
  for (std::size_t i = 0; i < std::min(type.layers.size(), kMaxRows); ++i) {
    const FitScaledLayer& layer = type.layers[i];
    rows += "<tr><td class=path>" + html_name(layer.name) + "<td class=type>" +
            html_text(layer.op) +
            html_figure("", "error", layer.error, magnitude_words(layer.error)) +
            html_figure("", "share", layer.share, fmt::format("{:.2g}%", 100 * layer.share)) + "\n";
  }
  if (!type.layers.empty())
    html += html_folded(type.layers.size(), "layers, those first that are to be kept wide first",
                        html_table(kLayerHead, rows, type.layers.size()));
  rows.clear();
  for (std::size_t i = 0; i < std::min(type.tensors.size(), kMaxRows); ++i)
    rows += row_of(type.tensors[i]);
  if (!type.tensors.empty())
    html += html_folded(type.tensors.size(), type.tensors.size() == 1 ? "tensor" : "tensors",
                        html_table(kTensorHead, rows, type.tensors.size()));
  return html + "</section>\n";
}

namespace {

constexpr std::string_view kLayerTitles =
    "<th class=n>#<th>layer<th>operator<th>result<th class=why>why";
constexpr std::string_view kTensorTitles =
    "<th>tensor<th class=n>elements<th class=n>smallest<th class=n>largest<th class=n>margin"
    "<th class=n>error<th class=n>become Inf<th class=n>become 0";

std::string name_of(const FitOfType& type) { return std::string(info(type.dtype).name); }

// "2 of 10 layers must stay float32; 3 cannot be judged"
std::string verdict(const FitOfType& type) {
  if (!type.layers.empty()) return verdict_words(type);
  const auto poor =
      std::ranges::count_if(type.tensors, [&](const FitTensor& t) { return is_poor(t, type); });
  return poor == 0 ? "the numbers of all " + counted(type.tensors.size(), "tensor") + " fit"
                   : fmt::format("the numbers of {} of {} do not fit", poor,
                                 counted(type.tensors.size(), "tensor"));
}

std::string_view state_word(FitState state) {
  if (state == FitState::wide) return "<span class=result>float32</span>";
  return state == FitState::narrow ? "<span class=\"result same\">fits</span>"
                                   : "<span class=\"result trouble\">not judged</span>";
}

class FitPage {
 public:
  explicit FitPage(const FitReport& report) : report_(report) {}

  std::string html(const PageOrigin& origin) const {
    std::string page = head(origin) + filter_box();
    for (const FitOfType& type : report_.types) page += section(type);
    for (const FitOfScales& type : report_.scaled) page += scales_section(type);
    return page +
           "<footer>Numbers are magnitudes, without NaN, Inf and zeros. Margin: the type's largest "
           "number by the tensor's. Error: of rounding to the type, root mean square, by that of "
           "the tensor. Errors of outputs are estimates to an order of magnitude.</footer>\n" +
           page_end();
  }

 private:
  std::string head(const PageOrigin& origin) const {
    const bool fit = fits(report_);
    std::string words;
    for (const FitOfType& type : report_.types)
      words += (words.empty() ? "" : "; ") + name_of(type) + ": " + verdict(type);
    for (const FitOfScales& type : report_.scaled)
      words += (words.empty() ? "" : "; ") + std::string(info(type.dtype).name) + ": " +
               scales_verdict(type);
    const char* const result = fit                     ? "fits"
                               : report_.types.empty() ? "does not fit"
                                                       : "must stay wide";
    std::string html = page_begin(std::string(result) + ": " + html_text(words));
    html += "<header id=top>\n" + html_origin(origin, "btftool fit");
    html += fmt::format("<h1><span class=\"result{}\">{}</span> <span>{}</span></h1>\n",
                        fit ? " same" : "", result, html_text(words));
    html += "<dl class=facts>\n";
    const auto fact = [&](std::string_view name, const std::string& value) {
      html += fmt::format("<div><dt>{}<dd>{}</div>\n", name, value);
    };
    for (const std::string& dump : report_.dumps) fact("dump", html_name(dump));
    fact("graph", report_.graph ? html_name(*report_.graph)
                                : "none: no layer can be judged, as a model says what is computed "
                                  "from what");
    if (report_.integers > 0)
      fact("left out",
           counted(report_.integers, "tensor") + " of dtypes that are not floating-point");
    if (!report_.unused.empty())
      fact("left out", counted(report_.unused.size(), "tensor") +
                           " that are not in the graph, such as " +
                           html_text(quoted_name(report_.unused.front())));
    for (const std::string& text : report_.warnings) fact("warning", html_text(text));
    for (const std::string& text : report_.troubles) fact("trouble", html_text(text));
    return html + "</dl>\n</header>\n";
  }

  std::string section(const FitOfType& type) const {
    std::string html =
        "<section>\n<h2>" + name_of(type) + ": " + html_text(verdict(type)) + "</h2>\n";
    for (const FitOutput& output : type.outputs)
      html += "<p class=note>" + html_text(output_words(output, type)) + "</p>\n";
    html += fit_range_chart(type);
    if (type.wide > 0) html += "<h3>Must stay float32</h3>\n" + layers(type, FitState::wide);
    if (type.unjudged > 0)
      html += html_folded(type.unjudged,
                          type.unjudged == 1 ? "layer cannot be judged" : "layers cannot be judged",
                          layers(type, FitState::unjudged));
    if (const auto narrow = type.layers.size() - type.wide - type.unjudged; narrow > 0)
      html += html_folded(narrow, narrow == 1 ? "layer fits" : "layers fit",
                          layers(type, FitState::narrow));
    if (!type.tensors.empty())
      html += html_folded(type.tensors.size(), type.tensors.size() == 1 ? "tensor" : "tensors",
                          tensors(type));
    return html + "</section>\n";
  }

  std::string layers(const FitOfType& type, FitState state) const {
    std::string rows;
    std::size_t all = 0;
    for (std::size_t i = 0; i < type.layers.size(); ++i) {
      const FitLayer& layer = type.layers[i];
      if (layer.state != state || ++all > kMaxRows) continue;
      rows += "<tr>" + html_figure("", "#", static_cast<double>(i + 1), std::to_string(i + 1)) +
              "<td class=path>" + html_name(layer.name) + "<td class=type>" + html_text(layer.op) +
              "<td>" + std::string(state_word(state)) + "<td class=why>" + why(layer, type) + "\n";
    }
    return html_table(kLayerTitles, rows, all, state == FitState::narrow ? " short" : "");
  }

  // Shows the first finding; the others are folded.
  std::string why(const FitLayer& layer, const FitOfType& type) const {
    std::string html = html_text(layer.why);
    for (const FitFinding& finding : layer.findings) {
      const std::string words = html_text(finding_words(finding, type, report_.dumps.size()));
      html += html.empty() ? "<b>" + words + "</b>" : "<small>" + words + "</small>";
    }
    return html;
  }

  static std::string tensors(const FitOfType& type) {
    std::string rows;
    std::size_t all = 0;
    for (const FitTensor& tensor : type.tensors) {
      if (++all > kMaxRows) break;
      const auto count = [](std::string_view label, std::uint64_t number) {
        return html_figure("", label, static_cast<double>(number), html_count(number));
      };
      rows += "<tr><td class=path>" + html_name(tensor.name) +
              (tensor.weight ? " <small>weight</small>" : "") + count("elements", tensor.elements) +
              html_figure("", "smallest", tensor.smallest, html_number(tensor.smallest)) +
              html_figure("", "largest", tensor.largest, html_number(tensor.largest)) +
              html_figure("", "margin", tensor.margin, html_number(tensor.margin)) +
              html_figure("", "error", tensor.error, part_words(tensor.error)) +
              count("become Inf", tensor.beyond) + count("become 0", tensor.lost) + "\n";
    }
    return html_table(kTensorTitles, rows, type.tensors.size());
  }

  const FitReport& report_;
};

}  // namespace
}  // namespace btf::report

namespace btf {

std::string html(const FitReport& report, const PageOrigin& origin) {
  return report::FitPage(report).html(origin);
}

}  // namespace btf
