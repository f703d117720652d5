#include "report/layers/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/layers/story.h"
#include "report/page/chart.h"
#include "report/page/html_text.h"

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

}  // namespace

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

}  // namespace btf::report
