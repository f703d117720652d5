#include "report/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace btf::report {
namespace {

constexpr double kHeight = 240;
constexpr double kWidth = 1000;
constexpr double kLowMark = 12;
constexpr double kLeastRange = 2;  // is still seen
constexpr std::size_t kMostColumns = 2000;

std::string percent_label(int decade) {
  const double percent = std::pow(10.0, decade + 2);
  return fmt::format("{:g} %", percent);
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        from_(static_cast<int>(std::floor(std::log10(std::min(chart.least, chart.most))))),
        to_(std::max(from_ + 1, static_cast<int>(std::ceil(std::log10(chart.most))))) {
    fold();
  }

  std::string html() const {
    std::string svg = fmt::format(
        "<div class=chart><div class=scale>{}</div><svg viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=none role=img aria-label=\"{}\">\n",
        labels(), kWidth, kHeight, chart_.label);
    for (const ChartSeries& series : chart_.bands) svg += band(series);
    for (const ChartRange& series : chart_.ranges) svg += range(series);
    svg += grid();
    for (const ChartLevel& drawn : chart_.levels) svg += level(drawn);
    for (const ChartSeries& series : chart_.lines) svg += line(series);
    return svg + marks() + fmt::format("</svg></div>\n<p class=key>{}</p>\n", chart_.legend);
  }

 private:
  void fold() {
    columns_.assign(std::min(chart_.items, kMostColumns), chart_.items);
    for (std::size_t i = 0; i < chart_.items; ++i) {
      std::size_t& item = columns_[i * columns_.size() / chart_.items];
      if (item == chart_.items || chart_.rank(i) > chart_.rank(item)) item = i;
    }
  }

  double x(std::size_t column) const {
    return (static_cast<double>(column) + 0.5) * kWidth / static_cast<double>(columns_.size());
  }

  double y(double value) const {
    const double part = value > 0 ? (std::log10(value) - from_) / (to_ - from_) : 0;
    return kHeight * (1 - std::clamp(part, 0.0, 1.0));
  }

  // Decades between grid lines, so that labels do not overlap.
  int every() const { return std::max(1, (to_ - from_ + 5) / 6); }

  std::string labels() const {
    std::string html;
    for (int decade = from_; decade <= to_; decade += every())
      html += fmt::format("<span style=\"bottom:{:.1f}%\">{}</span>",
                          100.0 * (decade - from_) / (to_ - from_),
                          chart_.shares ? percent_label(decade) : fmt::format("1e{}", decade));
    return html;
  }

  std::string grid() const {
    std::string path;
    for (int decade = from_; decade <= to_; decade += every())
      path += fmt::format("M0 {0:.1f}H{1}", y(std::pow(10.0, decade)), kWidth);
    return "<path class=grid d=\"" + path + "\"/>\n";
  }

  std::string band(const ChartSeries& series) const {
    std::string path = fmt::format("M0 {}", kHeight);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double top = chart_.known(columns_[i]) ? y(series.value(columns_[i])) : kHeight;
      const double half = kWidth / static_cast<double>(columns_.size()) / 2;
      path += fmt::format("L{:.1f} {:.1f}H{:.1f}", x(i) - half, top, x(i) + half);
    }
    return fmt::format("<path class={} d=\"{}L{} {}Z\"/>\n", series.name, path, kWidth, kHeight);
  }

  std::string range(const ChartRange& series) const {
    std::string path;
    const double half = kWidth / static_cast<double>(columns_.size()) / 2;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!chart_.known(columns_[i])) continue;
      const double low = y(series.low(columns_[i]));
      const double high = std::min(y(series.high(columns_[i])), low - kLeastRange);
      path += fmt::format("M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}Z", x(i) - half, low, x(i) + half,
                          high, x(i) - half);
    }
    return fmt::format("<path class={} d=\"{}\"/>\n", series.name, path);
  }

  std::string level(const ChartLevel& drawn) const {
    const double decade = drawn.value > 0 ? std::log10(drawn.value) : -HUGE_VAL;
    if (!(decade >= from_ && decade <= to_)) return "";
    return fmt::format("<path class=\"line {}\" d=\"M0 {:.1f}H{}\"/>\n", drawn.name, y(drawn.value),
                       kWidth);
  }

  std::string line(const ChartSeries& series) const {
    std::string path;
    bool open = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!chart_.known(columns_[i])) {
        open = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", open ? 'L' : 'M', x(i), y(series.value(columns_[i])));
      if (!open && (i + 1 == columns_.size() || !chart_.known(columns_[i + 1]))) path += "h.1";
      open = true;
    }
    return fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", series.name, path);
  }

  std::string marks() const {
    std::string svg;
    const double width = kWidth / static_cast<double>(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i)
      svg += fmt::format(
          "<g class={}><rect x={:.1f} y=0 width={:.1f} height={} /><path d=\"M{:.1f} {}V{}\"/>"
          "<title>{}</title></g>\n",
          chart_.mark(columns_[i]), x(i) - width / 2, width, kHeight, x(i),
          chart_.low_marks ? kHeight - kLowMark : 0, kHeight, chart_.title(columns_[i]));
    return svg;
  }

  const Chart& chart_;
  int from_;
  int to_;
  std::vector<std::size_t> columns_;  // items
};

}  // namespace

std::string html_chart(const Chart& chart) {
  return chart.most > 0 && chart.items > 0 ? Drawing(chart).html() : std::string();
}

}  // namespace btf::report
