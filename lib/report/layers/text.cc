// The text report of layers, with a chart of the errors along the order.
#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/layers.h"
#include "btf/report.h"
#include "report/layers/story.h"

namespace btf::report {
namespace {

struct Sparkline {
  std::string blocks;  // the chart, between the smallest and the largest error
  std::string marks;   // ^ broke, d wrong dump, . not measured; empty if there are none
};

constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct SparkColumn {
  double e = -1;  // the largest error of its layers; below 0 if none is known
  char mark = ' ';
};

char mark_of(const Layer& layer) {
  if (layer.state == LayerState::root) return '^';
  if (layer.state == LayerState::dump) return 'd';
  return layer.figures ? ' ' : '.';
}

bool worse(char a, char b) {
  constexpr std::string_view kOrder = " .d^";
  return kOrder.find(a) > kOrder.find(b);
}

std::string label(double e) {
  constexpr double kMaxSpelled = 100;
  return e >= 0.1 && e < kMaxSpelled ? fmt::format("{:.0f}%", e * 100)
                                     : fmt::format("{:.1g}%", e * 100);
}

// Returns a chart of at most this many columns. It is empty if no layer has an error above 0.
Sparkline sparkline(const LayerReport& report, std::size_t columns) {
  const auto& layers = report.layers;
  double least = HUGE_VAL;
  double most = 0;
  for (const Layer& layer : layers) {
    if (!layer.figures || !(layer.figures->relative_error > 0) ||
        std::isinf(layer.figures->relative_error))
      continue;
    least = std::min(least, layer.figures->relative_error);
    most = std::max(most, layer.figures->relative_error);
  }
  if (most == 0) return {};
  const std::string low = label(least) + " ";
  const std::string high = " " + label(most);
  const std::size_t room = columns - std::min(columns - 8, low.size() + high.size());
  const std::size_t width = std::min(room, layers.size());
  std::vector<SparkColumn> folded(width);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    SparkColumn& column = folded[i * width / layers.size()];
    if (layers[i].figures) column.e = std::max(column.e, layers[i].figures->relative_error);
    if (const char mark = mark_of(layers[i]); worse(mark, column.mark)) column.mark = mark;
  }
  // At least one decade, so that similar errors have similar heights.
  const double from = std::log10(least);
  const double range = std::max(1.0, std::log10(most) - from);
  Sparkline line{.blocks = low, .marks = std::string(low.size(), ' ')};
  bool marked = false;
  for (const SparkColumn& column : folded) {
    const double height = column.e > 0 ? (std::log10(std::min(column.e, most)) - from) / range : 0;
    const auto level = static_cast<std::size_t>(std::clamp(height * 7.999, 0.0, 7.0));
    line.blocks += column.e < 0 ? " " : kBlocks[level];
    line.marks += column.mark;
    marked = marked || column.mark != ' ';
  }
  line.blocks += high;
  line.marks = marked ? line.marks.substr(0, line.marks.find_last_not_of(' ') + 1) : "";
  return line;
}

constexpr std::size_t kIndent = 10;

std::string figure(double value) {
  if (value == 0) return "0";
  return value >= 1000 ? fmt::format("{:.2g}", value) : fmt::format("{:.3g}", value);
}

std::string percent_figure(double part) {
  return part * 100 >= 1000 ? fmt::format("{:.2g}%", part * 100)
                            : fmt::format("{:.3g}%", part * 100);
}

class LayerScreen {
 public:
  LayerScreen(const LayerRun& run, const TextOptions& options)
      : all_(options.all),
        paint_{options.color},
        report_(run.report),
        story_(story_of(run)),
        columns_(options.columns),
        whole_words_(options.whole_lines) {}

  std::string text() {
    print_story();
    const Sparkline line = sparkline(report_, columns_ - 2);
    if (!line.blocks.empty()) put("  " + line.blocks);
    if (!line.marks.empty()) put("  " + line.marks);
    print_table();
    return std::move(text_);
  }

 private:
  void put(std::string_view line) { text_.append(line).append("\n"); }

  std::string painted(const std::string& text) const {
    switch (report_.verdict.kind) {
      case VerdictKind::clean:
        return paint_.green(text);
      case VerdictKind::broke:
      case VerdictKind::inputs:
        return paint_.red(text);
      default:
        return paint_.yellow(text);
    }
  }

  std::string painted_state(const Layer& layer) const {
    const std::string text = printable(state_text(layer));
    if (layer.state == LayerState::root) return paint_.red(text);
    return layer.state == LayerState::dump ? paint_.yellow(text) : text;
  }

  // Sentences have names of files and tensors as they are.
  void lines(const std::string& text, std::size_t indent) {
    for (const std::string& line : wrapped(printable(text), columns_, indent)) put(line);
  }

  void print_story() {
    std::string head = story_.headline;
    if (!story_.subject.empty()) head += "  " + story_.subject;
    for (const std::string& line : wrapped(head, columns_, kIndent))
      put(line.starts_with(story_.headline)
              ? painted(story_.headline) + line.substr(story_.headline.size())
              : line);
    if (!story_.where.empty()) lines("  " + story_.where, 2);
    lines("  " + story_.words, 2);
    for (const Story::Line& line : story_.lines) {
      const std::string begin = "  " + pad_right(line.title, kIndent - 2);
      if (line.title == "next")
        put(begin + continued(line.text, columns_, kIndent, whole_words_));
      else
        lines(begin + line.text, kIndent);
    }
  }

  // Returns the layers that broke, their inputs and the layers after them; or all layers.
  std::set<std::uint64_t> shown() const {
    std::set<std::uint64_t> layers;
    constexpr std::size_t kMax = 5;
    const auto around = [&](std::uint64_t i) {
      if (i > 0 && report_.layers[i].inputs.empty()) layers.insert(i - 1);
      for (const std::uint64_t input : report_.layers[i].inputs) layers.insert(input);
      layers.insert(i);
      if (i + 1 < report_.layers.size()) layers.insert(i + 1);
    };
    if (all_)
      for (std::uint64_t i = 0; i < report_.layers.size(); ++i) layers.insert(i);
    for (std::size_t i = 0; i < std::min(kMax, report_.roots.size()); ++i) around(report_.roots[i]);
    std::size_t dumps = 0;
    for (std::uint64_t i = 0; i < report_.layers.size() && dumps < kMax; ++i) {
      if (report_.layers[i].state != LayerState::dump) continue;
      around(i);
      ++dumps;
    }
    return layers;
  }

  void print_table() {
    const std::set<std::uint64_t> layers = shown();
    if (layers.empty()) return;
    constexpr std::size_t kNumber = 4;
    constexpr std::size_t kFigures = 9 + 9 + 9;
    std::size_t state = 13;
    for (const std::uint64_t i : layers)
      state = std::max(state, state_text(report_.layers[i]).size());
    const std::size_t others = kNumber + 2 + kFigures + 2 + state;
    std::vector<std::string> names;
    for (const std::uint64_t i : layers) names.push_back(printable(report_.layers[i].name()));
    std::size_t name = std::max(columns_, others + 12) - others;
    if (whole_words_)
      for (const std::string& whole : names) name = std::max(name, columns_of(whole) + 1);
    names = short_names(names, name - 1);
    auto next_name = names.begin();
    put("");
    put(pad_left("#", kNumber) + "  " + pad_right("layer", name) + pad_left("error", 9) +
        pad_left("inputs", 9) + pad_left("x noise", 9) + "  state");
    for (const std::uint64_t i : layers) {
      const Layer& layer = report_.layers[i];
      std::string line =
          pad_left(std::to_string(i + 1), kNumber) + "  " + fill_right(*next_name++, name);
      if (layer.figures) {
        line += pad_left(percent_figure(layer.figures->relative_error), 9) +
                pad_left(percent_figure(layer.input_error), 9) +
                pad_left(figure(layer.error_to_noise), 9);
      } else {
        line += std::string(kFigures, ' ');
      }
      put(line + "  " + painted_state(layer));
    }
  }

  std::string text_;
  bool all_;
  Paint paint_;
  const LayerReport& report_;
  Story story_;
  std::size_t columns_;
  bool whole_words_;  // words of the command are not broken
};

}  // namespace
}  // namespace btf::report

namespace btf {

std::string text(const LayerRun& run, const TextOptions& options) {
  return report::LayerScreen(run, options).text();
}

}  // namespace btf
