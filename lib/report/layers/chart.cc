#include "report/layers/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/layers/story.h"
#include "report/page/html_text.h"

namespace btf::report {
namespace {

constexpr double kHeight = 240;
constexpr double kWidth = 1000;
// More are folded, the largest of each column being kept.
constexpr std::size_t kMostColumns = 2000;

std::string percent_label(int decade) {
  const double percent = std::pow(10.0, decade + 2);
  return fmt::format("{:g} %", percent);
}

// The layers of a column, as the worst of them.
struct Column {
  const Layer* layer = nullptr;
  std::size_t number = 0;
};

class Chart {
 public:
  explicit Chart(const LayerReport& report) : report_(report) { scale(); }

  bool empty() const { return most_ <= 0; }

  std::string html() {
    fold();
    std::string svg = fmt::format(
        "<div class=chart><div class=scale>{}</div><svg viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=none role=img aria-label=\"relative error of each layer\">\n",
        labels(), kWidth, kHeight);
    svg += band("limit", 2) + band("noise", 1) + grid();
    svg += line("worst", [](const Layer& layer) { return layer.figures->slice_error; });
    svg += line("error", [](const Layer& layer) { return layer.figures->relative_error; });
    return svg + marks() + "</svg></div>\n" + legend();
  }

 private:
  static bool drawable(double value) { return value > 0 && std::isfinite(value); }

  void scale() {
    double least = HUGE_VAL;
    for (const Layer& layer : report_.layers) {
      if (!layer.figures) continue;
      for (const double value : {layer.figures->relative_error, layer.figures->slice_error})
        if (drawable(value)) most_ = std::max(most_, value);
      for (const double value : {layer.figures->relative_error, layer.noise})
        if (drawable(value)) least = std::min(least, value);
    }
    if (most_ <= 0) return;
    from_ = static_cast<int>(std::floor(std::log10(least)));
    to_ = std::max(from_ + 1, static_cast<int>(std::ceil(std::log10(most_))));
  }

  void fold() {
    const auto& layers = report_.layers;
    columns_.resize(std::min(layers.size(), kMostColumns));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      Column& column = columns_[i * columns_.size() / layers.size()];
      if (column.layer == nullptr || rank(layers[i]) > rank(*column.layer))
        column = {&layers[i], i};
    }
  }

  static double rank(const Layer& layer) {
    const double e = layer.figures ? layer.figures->relative_error : 0;
    return (layer.state == LayerState::root || layer.state == LayerState::dump ? 1e300 : 0) + e;
  }

  double x(std::size_t column) const {
    return (static_cast<double>(column) + 0.5) * kWidth / static_cast<double>(columns_.size());
  }

  double y(double value) const {
    const double part = drawable(value) ? (std::log10(value) - from_) / (to_ - from_) : 0;
    return kHeight * (1 - std::clamp(part, 0.0, 1.0));
  }

  // Decades between grid lines, so that labels do not overlap.
  int every() const { return std::max(1, (to_ - from_ + 5) / 6); }

  std::string labels() const {
    std::string html;
    for (int decade = from_; decade <= to_; decade += every())
      html += fmt::format("<span style=\"bottom:{:.1f}%\">{}</span>",
                          100.0 * (decade - from_) / (to_ - from_), percent_label(decade));
    return html;
  }

  std::string grid() const {
    std::string path;
    for (int decade = from_; decade <= to_; decade += every())
      path += fmt::format("M0 {0:.1f}H{1}", y(std::pow(10.0, decade)), kWidth);
    return "<path class=grid d=\"" + path + "\"/>\n";
  }

  // From the bottom up to what is explained.
  std::string band(const char* name, double times) const {
    std::string path = fmt::format("M0 {}", kHeight);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Layer& layer = *columns_[i].layer;
      const double top = layer.figures ? y(layer.noise * times) : kHeight;
      const double half = kWidth / static_cast<double>(columns_.size()) / 2;
      path += fmt::format("L{:.1f} {:.1f}H{:.1f}", x(i) - half, top, x(i) + half);
    }
    return fmt::format("<path class={} d=\"{}L{} {}Z\"/>\n", name, path, kWidth, kHeight);
  }

  // Layers that were not measured leave a gap.
  template <typename Value>
  std::string line(const char* name, Value&& value) const {
    std::string path;
    bool open = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Layer& layer = *columns_[i].layer;
      if (!layer.figures) {
        open = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", open ? 'L' : 'M', x(i), y(value(layer)));
      if (!open && (i + 1 == columns_.size() || !columns_[i + 1].layer->figures)) path += "h.1";
      open = true;
    }
    return fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", name, path);
  }

  std::string marks() const {
    std::string svg;
    const double width = kWidth / static_cast<double>(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Layer& layer = *columns_[i].layer;
      const char* const name = layer.state == LayerState::root   ? "root"
                               : layer.state == LayerState::dump ? "dump"
                               : !layer.figures                  ? "gap"
                                                                 : "plain";
      svg += fmt::format(
          "<g class={}><rect x={:.1f} y=0 width={:.1f} height={} /><path d=\"M{:.1f} 0V{}\"/>"
          "<title>{} {}: {}</title></g>\n",
          name, x(i) - width / 2, width, kHeight, x(i), kHeight, columns_[i].number + 1,
          html_text(layer.name()), html_text(told(layer)));
    }
    return svg;
  }

  static std::string told(const Layer& layer) {
    if (!layer.figures) return "not measured";
    return fmt::format("error {:.3g} %, worst part {:.3g} %, {:.3g} times what is explained, {}",
                       layer.figures->relative_error * 100, layer.figures->slice_error * 100,
                       layer.error_to_noise, state_text(layer));
  }

  static std::string legend() {
    return "<p class=key><span class=error>error</span> <span class=worst>worst part</span> "
           "<span class=noise>explained by inputs and dtype</span> "
           "<span class=limit>twice that</span> <span class=root>broke</span> "
           "<span class=dump>wrong dump</span></p>\n";
  }

  const LayerReport& report_;
  std::vector<Column> columns_;
  double most_ = 0;
  int from_ = 0;
  int to_ = 1;
};

}  // namespace

std::string layers_chart(const LayerReport& report) {
  Chart chart(report);
  return chart.empty() ? std::string() : chart.html();
}

}  // namespace btf::report
