// The HTML page of layers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "btf/layers.h"
#include "btf/report.h"
#include "report/layers/story.h"
#include "report/page/page.h"

namespace btf::report {
namespace {

bool drawable(double value) { return value > 0 && std::isfinite(value); }

bool is_marked(const Layer& layer) {
  return layer.state == LayerState::root || layer.state == LayerState::dump;
}

const char* class_of(const Layer& layer) {
  if (layer.state == LayerState::root) return "root";
  if (layer.state == LayerState::dump) return "dump";
  return layer.figures ? "plain" : "gap";
}

std::string told_of(const Layer& layer) {
  if (!layer.figures) return "not measured";
  return fmt::format("error {:.3g} %, worst part {:.3g} %, {:.3g} times what is explained, {}",
                     layer.figures->relative_error * 100, layer.figures->slice_error * 100,
                     layer.error_to_noise, state_text(layer));
}

// Returns an empty string if no layer has an error above 0.
std::string layers_chart(const LayerReport& report) {
  const auto& layers = report.layers;
  double least = HUGE_VAL;
  double most = 0;
  for (const Layer& layer : layers) {
    if (!layer.figures) continue;
    for (const double value : {layer.figures->relative_error, layer.figures->slice_error})
      if (drawable(value)) most = std::max(most, value);
    for (const double value : {layer.figures->relative_error, layer.noise})
      if (drawable(value)) least = std::min(least, value);
  }
  const auto finite = [](double value) { return std::isfinite(value) ? value : 0; };
  return html_chart(
      {.items = layers.size(),
       .least = least,
       .most = most,
       .label = "relative error of each layer",
       .legend = "<span class=error>error</span> <span class=worst>worst part</span> "
                 "<span class=noise>explained by inputs and dtype</span> "
                 "<span class=limit>twice that</span> <span class=root>broke</span> "
                 "<span class=dump>wrong dump</span>",
       .bands = {{"limit", [&](std::size_t i) { return finite(2 * layers[i].noise); }},
                 {"noise", [&](std::size_t i) { return finite(layers[i].noise); }}},
       .lines = {{"worst", [&](std::size_t i) { return finite(layers[i].figures->slice_error); }},
                 {"error",
                  [&](std::size_t i) { return finite(layers[i].figures->relative_error); }}},
       .known = [&](std::size_t i) { return layers[i].figures.has_value(); },
       .rank =
           [&](std::size_t i) {
             return (is_marked(layers[i]) ? 1e300 : 0) +
                    (layers[i].figures ? layers[i].figures->relative_error : 0);
           },
       .mark = [&](std::size_t i) { return class_of(layers[i]); },
       .title =
           [&](std::size_t i) {
             return fmt::format("{} {}: {}", i + 1, html_text(layers[i].name()),
                                html_text(told_of(layers[i])));
           }});
}

// Added to the style of diff's page.
constexpr std::string_view kStyle = R"(
.words { font-size: 16px; margin: 0 0 14px; overflow-wrap: anywhere; }
h1 .subject { overflow-wrap: anywhere; }
.layers { width: 100%; }
.layers th, .layers td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
.layers .name { overflow-wrap: anywhere; min-width: 18ch; }
.layers .root td:last-child { color: var(--red); } .layers .dump td:last-child { color: var(--amber); }
@media (max-width: 640px) {
  .layers .wide { display: none; } .layers td, .layers th { font-size: 13px; padding-right: 8px; }
  .layers .name { min-width: 12ch; } .layers thead th { white-space: normal; }
}
)";

std::string number_cell(double value, const std::string& text, const char* more = "") {
  return fmt::format("<td class=\"n{}\" data-v=\"{:.9g}\">{}", more, value, text);
}

std::string percent_cell(double part, const char* more = "") {
  return number_cell(part, fmt::format("{:.3g} %", part * 100), more);
}

// The number of elements that were recomputed from the inputs of the layer, or how many are wrong.
std::string recomputed_cell(const Layer& layer) {
  if (!layer.spot) return "<td class=wide>";
  const SpotCheck& spot = *layer.spot;
  if (spot.state == SpotState::unchecked)
    return "<td class=\"n wide\" data-v=\"-1\" title=\"" + html_text(spot.why) + "\">–";
  return number_cell(static_cast<double>(spot.off),
                     spot.off == 0 ? fmt::format("{} follow", spot.checked)
                                   : fmt::format("{} of {} off", spot.off, spot.checked),
                     " wide");
}

std::string row_of(const Layer& layer, std::size_t number) {
  const char* const kind = layer.state == LayerState::root   ? " class=root"
                           : layer.state == LayerState::dump ? " class=dump"
                                                             : "";
  const auto name_of = [](const auto& dtype) {
    return dtype ? std::string(btf::info(*dtype).name) : std::string();
  };
  std::string row = fmt::format("<tr{}>", kind) +
                    number_cell(static_cast<double>(number), std::to_string(number)) +
                    "<td class=name>" + html_text(layer.name());
  row += "<td class=wide>" + html_text(name_of(layer.actual_dtype)) + "<td class=wide>" +
         html_text(btf::dims_text(layer.golden_dims));
  if (layer.figures) {
    row += percent_cell(layer.figures->relative_error) + percent_cell(layer.input_error, " wide") +
           number_cell(layer.error_to_noise, fmt::format("{:.3g}", layer.error_to_noise)) +
           percent_cell(layer.figures->slice_error, " wide");
  } else {
    row += "<td><td class=wide><td><td class=wide>";
  }
  row += recomputed_cell(layer);
  std::string state = state_text(layer);
  if (!layer.hints.empty()) {
    const Hint& hint = layer.hints.front();
    state += ": " + (hint.other_cause.empty() ? std::string(btf::cause_name(hint.cause))
                                              : hint.other_cause);
  }
  const std::string note = layer.note.empty() ? "" : " title=\"" + html_text(layer.note) + "\"";
  return row + "<td" + note + ">" + html_text(state) + "\n";
}

std::string table(const LayerReport& report) {
  std::string html =
      "<div class=scroll><table class=\"layers sortable\"><thead><tr><th class=n>#<th>layer<th "
      "class=wide>dtype"
      "<th class=wide>shape<th class=n>error<th class=\"n wide\">inputs<th class=n>× explained"
      "<th class=\"n wide\">worst part"
      "<th class=\"n wide\">recomputed<th>state</thead><tbody>\n";
  const std::size_t rows = std::min(report.layers.size(), kMaxRows);
  for (std::size_t i = 0; i < rows; ++i) html += row_of(report.layers[i], i + 1);
  html += "</tbody></table></div>\n";
  if (rows < report.layers.size())
    html += fmt::format("<p class=note>and {} more</p>\n", html_count(report.layers.size() - rows));
  return html;
}

std::string_view result_class(VerdictKind kind) {
  if (kind == VerdictKind::clean) return "result same";
  return kind == VerdictKind::broke || kind == VerdictKind::inputs ? "result" : "result trouble";
}

std::string head(const LayerRun& run, const Story& story) {
  std::string html = page_begin(html_text(story.headline) + " " + html_text(story.subject), kStyle);
  html += html_origin(run.origin, "btftool layers");
  html += fmt::format("<h1><span class=\"{}\">{}</span> <span class=subject>{}</span></h1>\n",
                      result_class(run.report.verdict.kind), html_text(story.headline),
                      html_text(story.subject));
  html += "<p class=words>" + html_text(story.words) + "</p>\n<dl class=facts>\n";
  html += "<div><dt>actual<dd>" + html_name(run.actual) + "</div>\n<div><dt>golden<dd>" +
          html_name(run.golden) + "</div>\n";
  if (!story.where.empty()) html += "<div><dt>where<dd>" + html_text(story.where) + "</div>\n";
  for (const Story::Line& line : story.lines)
    html += "<div><dt>" + line.title + "<dd>" +
            (line.title == "next" ? "<code>" + html_text(line.text) + "</code>"
                                  : html_text(line.text)) +
            "</div>\n";
  return html + "</dl>\n";
}

}  // namespace
}  // namespace btf::report

namespace btf {

std::string html(const LayerRun& run) {
  return report::head(run, report::story_of(run)) + report::layers_chart(run.report) +
         (run.report.layers.empty() ? "" : report::filter_box()) + report::table(run.report) +
         report::page_end();
}

}  // namespace btf
