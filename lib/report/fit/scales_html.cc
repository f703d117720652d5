#include <fmt/format.h>

#include <algorithm>

#include "report/fit/scales.h"
#include "report/fit/table.h"
#include "report/fit/words.h"
#include "report/page/html_text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::string_view kTensorHead =
    "<th>tensor<th>by<th class=n>scale<th class=n>SNR<th class=n>clipped<th class=n>lost"
    "<th class=n>channels<th class=why>remarks";
constexpr std::string_view kLayerHead =
    "<th>layer<th>operator<th class=n>error<th class=n>share of the noise";

std::string remarks(const FitScaledTensor& tensor) {
  std::string text;
  if (tensor.state == FitScaling::nonfinite)
    text = fmt::format("{} NaN and {} Inf, which no code stands for. ", html_count(tensor.nan),
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
  for (std::size_t i = 0; i < std::min(type.layers.size(), kMostRows); ++i) {
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
  for (std::size_t i = 0; i < std::min(type.tensors.size(), kMostRows); ++i)
    rows += row_of(type.tensors[i]);
  if (!type.tensors.empty())
    html += html_folded(type.tensors.size(), type.tensors.size() == 1 ? "tensor" : "tensors",
                        html_table(kTensorHead, rows, type.tensors.size()));
  return html + "</section>\n";
}

}  // namespace btf::report
