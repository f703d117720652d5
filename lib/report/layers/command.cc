#include "report/layers/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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

// The pair among all of both sets, in words of `diff`; nothing if its names cannot be typed so.
std::vector<std::string> words_of_pair(const Layer& layer) {
  const auto is_name = [](const std::string& name) {
    return name.find_first_not_of("0123456789-") != std::string::npos && !name.starts_with('@');
  };
  if (layer.actual == layer.golden && is_name(layer.golden) &&
      layer.golden.find_first_of("*?[],!\\") == std::string::npos)
    return {"--tensor", layer.golden};
  const auto named = [&](const std::string& name) { return (is_name(name) ? "" : "@") + name; };
  if (layer.actual.empty() || layer.golden.empty() ||
      (layer.actual + layer.golden).find_first_of(",:") != std::string::npos)
    return {};
  return {"--pair", named(layer.actual) + ":" + named(layer.golden)};
}

// An option and its word.
void drop(std::vector<std::string>& words, std::string_view option) {
  const auto found = std::ranges::find(words, option);
  if (found != words.end()) words.erase(found, found + 2);
}

// A scale is for codes, and trouble where there are none.
bool may_be_codes(const std::optional<DType>& dtype) {
  return !dtype || !info(*dtype).floating() || info(*dtype).bits <= 8;
}

// Specs may go by the names of files, of which each has to match one that is compared.
bool has_specs(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if ((words[i] == "--actual-spec" || words[i] == "--golden-spec") &&
        !words[i + 1].starts_with('@'))
      return true;
  return false;
}

}  // namespace

std::vector<std::string> words_of_numbers(const LayerRun& run) {
  std::vector<std::string> words = run.scales;
  drop(words, "--files-from");
  return words;
}

// Two files alone do not have the scales that are files beside them; too many to type are found
// again where the directories are compared. So are the files that specs go by.
std::string next_command(const LayerRun& run) {
  const LayerVerdict& verdict = run.report.verdict;
  if (verdict.actual_path.empty() || !verdict.layer || verdict.kind == VerdictKind::clean)
    return {};
  std::vector<std::string> words = run.scales;
  const Layer& layer = run.report.layers[*verdict.layer];
  if (!may_be_codes(layer.actual_dtype)) drop(words, "--actual-scale");
  if (!may_be_codes(layer.golden_dtype)) drop(words, "--golden-scale");
  std::vector<std::string> paths;
  constexpr std::size_t kMostTyped = 8;
  const auto many = [](const std::optional<GivenScale>& scale) {
    return scale && scale->scales.size() > kMostTyped;
  };
  const bool actual_in_set = verdict.actual_path != run.actual;
  const bool golden_in_set = verdict.golden_path != run.golden;
  const bool by_sets = (actual_in_set && golden_in_set &&
                        (many(verdict.actual_scale) || many(verdict.golden_scale))) ||
                       ((actual_in_set || golden_in_set) && has_specs(words));
  const std::vector<std::string> pair =
      by_sets ? words_of_pair(layer) : std::vector<std::string>();
  if (!pair.empty()) {
    words.insert(words.end(), pair.begin(), pair.end());
    paths = {run.actual, run.golden};
  } else {
    drop(words, "--files-from");
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
  if (!options.scale_blocks.empty())
    words.insert(words.end(), {"--block", by_x(options.scale_blocks)});
  add_scales(options.actual_scale, options.golden_scale, words);
  return words;
}

}  // namespace btf::report
