#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "btf/report/fit.h"
#include "report/fit/range_chart.h"
#include "report/fit/scales.h"
#include "report/fit/table.h"
#include "report/fit/words.h"
#include "report/page/html_text.h"
#include "report/page/origin.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
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
      fact("left out", counted(report_.integers, "tensor") + " of other types than floats");
    if (!report_.unused.empty())
      fact("left out", counted(report_.unused.size(), "tensor") + " not in the graph, as " +
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
      if (layer.state != state || ++all > kMostRows) continue;
      rows += "<tr>" + html_figure("", "#", static_cast<double>(i + 1), std::to_string(i + 1)) +
              "<td class=path>" + html_name(layer.name) + "<td class=type>" + html_text(layer.op) +
              "<td>" + std::string(state_word(state)) + "<td class=why>" + why(layer, type) + "\n";
    }
    return html_table(kLayerTitles, rows, all, state == FitState::narrow ? " short" : "");
  }

  // The first finding says it; the others are there for those who ask.
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
      if (++all > kMostRows) break;
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
