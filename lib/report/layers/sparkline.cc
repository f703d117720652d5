#include "report/layers/sparkline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace btf::report {
namespace {

constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct SparkColumn {
  double e = -1;  // the largest; below 0: none is known
  char mark = ' ';
};

// The mark for a layer's state.
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
  constexpr double kMostSpelled = 100;
  return e >= 0.1 && e < kMostSpelled ? fmt::format("{:.0f}%", e * 100)
                                      : fmt::format("{:.1g}%", e * 100);
}

}  // namespace

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
  // One decade at least, so that alike errors look alike.
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

}  // namespace btf::report
