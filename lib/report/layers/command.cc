#include "report/layers/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "btf/value.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// As the option takes it: "0.02,3", "1:0.02,3/0.05,-1".
std::string scale_text(const GivenScale& given) {
  std::string text = given.axis ? std::to_string(*given.axis) + ":" : "";
  for (std::size_t i = 0; i < given.scales.size(); ++i) {
    text += (i == 0 ? "" : "/") + number_text(given.scales[i]);
    if (!given.zero_points.empty()) text += "," + std::to_string(given.zero_points[i]);
  }
  return text;
}

void add_scales(const std::optional<GivenScale>& actual, const std::optional<GivenScale>& golden,
                std::vector<std::string>& words) {
  if (actual) words.insert(words.end(), {"--actual-scale", scale_text(*actual)});
  if (golden) words.insert(words.end(), {"--golden-scale", scale_text(*golden)});
}

// Files that have one name in both directories, which a selection can say.
bool is_pair_of_directories(const LayerRun& run) {
  const LayerVerdict& verdict = run.report.verdict;
  const Layer& layer = run.report.layers[*verdict.layer];
  const bool plain = layer.name().find_first_of("*?[],!@\\") == std::string::npos &&
                     layer.name().find_first_not_of("0123456789-") != std::string::npos;
  return plain && layer.actual == layer.golden && verdict.actual_path != run.actual &&
         verdict.golden_path != run.golden;
}

}  // namespace

// Two files alone do not have the scales that are files beside them; too many to type are found
// again where the directories are compared.
std::string next_command(const LayerRun& run) {
  const LayerVerdict& verdict = run.report.verdict;
  if (verdict.actual_path.empty() || !verdict.layer || verdict.kind == VerdictKind::clean)
    return {};
  std::vector<std::string> words = run.scales;
  std::vector<std::string> paths;
  constexpr std::size_t kMostTyped = 8;
  const auto many = [](const std::optional<GivenScale>& scale) {
    return scale && scale->scales.size() > kMostTyped;
  };
  if ((many(verdict.actual_scale) || many(verdict.golden_scale)) && is_pair_of_directories(run)) {
    words.insert(words.end(), {"--tensor", run.report.layers[*verdict.layer].name()});
    paths = {run.actual, run.golden};
  } else {
    add_scales(verdict.actual_scale, verdict.golden_scale, words);
    if (verdict.actual_tensor || verdict.golden_tensor)
      words.insert(words.end(), {"--pair", fmt::format("{}:{}", verdict.actual_tensor.value_or(0),
                                                       verdict.golden_tensor.value_or(0))});
    paths = {verdict.actual_path, verdict.golden_path};
  }
  std::string command = "btftool diff --heatmap";
  for (const std::string& word : words) command += " " + shell_word(word);
  for (const std::string& path : paths) command += " " + shell_path(path);
  return command;
}

std::vector<std::string> scale_words(const LayerOptions& options) {
  std::vector<std::string> words;
  if (options.dequantize) words.emplace_back("--dequantize");
  add_scales(options.actual_scale, options.golden_scale, words);
  return words;
}

}  // namespace btf::report
