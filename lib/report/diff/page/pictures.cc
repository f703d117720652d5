#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/diff/heatmap_scale.h"
#include "report/diff/page/parts.h"
#include "report/page/html_text.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// ---- errors by decade

constexpr int kMostBars = 24;

struct Bar {
  int first = 0;  // decade
  int last = 0;
  std::uint64_t count = 0;
  std::uint64_t mismatched = 0;
};

// Every decade of the span, the empty ones too; several to a bar where there are too many.
std::vector<Bar> bars_of(const std::vector<DecadeCount>& decades) {
  const int first = decades.front().decade;
  const int span = decades.back().decade - first + 1;
  const int width = (span + kMostBars - 1) / kMostBars;
  std::vector<Bar> bars;
  for (int at = 0; at < span; at += width)
    bars.push_back({first + at, std::min(first + at + width, first + span) - 1, 0, 0});
  for (const DecadeCount& decade : decades) {
    Bar& bar = bars[static_cast<std::size_t>((decade.decade - first) / width)];
    bar.count += decade.count;
    bar.mismatched += decade.mismatched;
  }
  return bars;
}

// Bar length out of 100; a count above 0 stays visible.
double length(std::uint64_t count, std::uint64_t most) {
  if (count == 0) return 0;
  return 100 * (1 + std::log10(static_cast<double>(count))) /
         (1 + std::log10(static_cast<double>(std::max<std::uint64_t>(most, 1))));
}

// The part of a bar that is mismatched: linear, but neither nothing nor all of it by rounding.
double part(std::uint64_t mismatched, std::uint64_t count) {
  if (mismatched == 0 || mismatched >= count) return mismatched == 0 ? 0 : 1;
  return std::clamp(static_cast<double>(mismatched) / static_cast<double>(count), 0.02, 0.98);
}

std::string bar_row(const std::string& label, std::uint64_t count, std::uint64_t mismatched,
                    std::uint64_t most) {
  return fmt::format(
      "<tr><th class=n>{}<td class=bar><svg viewBox=\"0 0 100 10\" preserveAspectRatio=none "
      "aria-hidden=true><rect class=all width=\"{:.2f}\" height=10 /><rect class=bad "
      "width=\"{:.2f}\" height=10 /></svg><td class=n>{}<td class=n>{}\n",
      label, length(count, most), length(count, most) * part(mismatched, count), html_count(count),
      html_count(mismatched));
}

std::string power(int decade) { return fmt::format("1e{}", decade); }

// ---- heat map

struct Size {
  double cell_width = 0;
  double cell_height = 0;
  double left = 0;  // room for the labels
  double top = 0;
  double width = 0;
  double height = 0;
};

constexpr double kCharacter = 6.4;  // of the labels, in px
constexpr double kLabelHeight = 14;

class HeatPicture {
 public:
  HeatPicture(const Heatmap& map, const Dims& dims) : map_(map), dims_(dims) {
    const auto rows = static_cast<double>(std::max<std::uint64_t>(map.rows, 1));
    const auto columns = static_cast<double>(std::max<std::uint64_t>(map.columns, 1));
    size_.cell_width = std::clamp(576 / columns, 9.0, 22.0);
    size_.cell_height =
        std::clamp(size_.cell_width * shape(map), 9.0, std::clamp(440 / rows, 9.0, 24.0));
    std::size_t widest = 0;
    if (map.down)
      for (std::uint64_t row = 0; row < map.rows; ++row)
        widest = std::max(widest, range_text(cell_range(*map.down, dims, row)).size());
    size_.left = map.down ? 20 + kCharacter * static_cast<double>(widest) : 4;
    size_.top = map.across ? 2 * kLabelHeight + 4 : 4;
    size_.width = size_.left + columns * size_.cell_width + 24;
    size_.height = size_.top + rows * size_.cell_height + 4;
  }

  std::string html(const std::string& picked) const {
    return fmt::format("<figure class=heat>\n<figcaption>{}</figcaption>\n", caption(picked)) +
           svg() + legend() + "</figure>\n";
  }

 private:
  // Height by width of a cell, so that the picture keeps the proportions of the tensor, nearly.
  static double shape(const Heatmap& map) {
    if (!map.down || !map.across) return 1;
    return static_cast<double>(map.down->step) / static_cast<double>(map.across->step);
  }

  // So many cells from label to label: a power of two.
  static std::uint64_t spacing(double least) {
    std::uint64_t every = 1;
    while (static_cast<double>(every) < least) every *= 2;
    return every;
  }

  std::string caption(const std::string& picked) const {
    std::string text = "Share of mismatches";
    if (map_.down) text += " by " + axis_title(map_.down->dim, dims_.size()) + " (down)";
    if (map_.across)
      text += (map_.down ? " and " : " by ") + axis_title(map_.across->dim, dims_.size()) +
              (map_.down ? " (across)" : "");
    if (!picked.empty()) text += "<br><small>" + picked_text(picked) + "</small>";
    return text + "<br><small>" + html_text(coverage_text(map_, dims_)) + "</small>";
  }

  std::string svg() const {
    std::string html = fmt::format(
        "<div class=scroll><svg role=img viewBox=\"0 0 {0:.0f} {1:.0f}\" width={0:.0f} "
        "height={1:.0f} aria-label=\"heat map of mismatches\">\n",
        size_.width, size_.height);
    html += down_labels() + across_labels();
    html += fmt::format(
        "<g transform=\"translate({:.1f} {:.1f}) scale({:.2f} {:.2f})\" shape-rendering=crispEdges>"
        "<rect class=h0 width={} height={} />\n",
        size_.left, size_.top, size_.cell_width, size_.cell_height, map_.columns, map_.rows);
    for (std::uint64_t row = 0; row < map_.rows; ++row)
      for (std::uint64_t column = 0; column < map_.columns; ++column) html += cell(row, column);
    return html + "</g>\n</svg></div>\n";
  }

  // Cells without mismatches are the background.
  std::string cell(std::uint64_t row, std::uint64_t column) const {
    const HeatCell found = heat_cell(map_, row, column);
    const std::size_t level = density_level(found.mismatched, found.elements);
    if (level == 0) return "";
    return fmt::format("<path class=h{} d=\"M{} {}h1v1h-1z\"><title>{}: {} of {}</title></path>\n",
                       level, column, row, cell_text(map_, dims_, row, column),
                       html_count(found.mismatched), html_count(found.elements));
  }

  std::string down_labels() const {
    if (!map_.down) return "";
    const std::uint64_t every = spacing(kLabelHeight / size_.cell_height);
    std::string html =
        fmt::format("<text class=axis x={:.1f} y={:.1f} text-anchor=end>{}</text>\n",
                    size_.left - 6, size_.top - 6, axis_name(map_.down->dim, dims_.size()) + " ↓");
    for (std::uint64_t row = 0; row < map_.rows; row += every)
      html += fmt::format("<text x={:.1f} y={:.1f} text-anchor=end>{}</text>\n", size_.left - 6,
                          size_.top + (static_cast<double>(row) + 0.5) * size_.cell_height + 4,
                          range_text(cell_range(*map_.down, dims_, row)));
    return html;
  }

  std::string across_labels() const {
    if (!map_.across) return "";
    const auto label = [&](std::uint64_t column) {
      return std::to_string(cell_range(*map_.across, dims_, column).first);
    };
    const double room = kCharacter * static_cast<double>(label(map_.columns - 1).size()) + 12;
    const std::uint64_t every = spacing(room / size_.cell_width);
    std::string html = fmt::format("<text class=axis x={:.1f} y=11>{} →</text>\n", size_.left + 1,
                                   axis_name(map_.across->dim, dims_.size()));
    for (std::uint64_t column = 0; column < map_.columns; column += every) {
      const double x = size_.left + static_cast<double>(column) * size_.cell_width;
      html += fmt::format(
          "<path class=tick d=\"M{0:.1f} {1:.1f}v-5\" /><text x={2:.1f} y={3:.1f}>{4}</text>\n",
          x + 0.5, size_.top, x, size_.top - 7, label(column));
    }
    return html;
  }

  static std::string legend() {
    std::string html = "<p class=legend>";
    for (std::size_t level = 0; level < density_levels().size(); ++level)
      html += fmt::format(
          "<span><svg width=12 height=12 aria-hidden=true><rect class=h{} "
          "width=12 height=12 /></svg>{}</span>\n",
          level, html_text(density_levels()[level].meaning));
    return html + "of the cell</p>\n";
  }

  const Heatmap& map_;
  const Dims& dims_;
  Size size_;
};

}  // namespace

std::string html_histogram(const TensorDiff& diff) {
  if (diff.decades.empty()) return "";
  const std::vector<Bar> bars = bars_of(diff.decades);
  std::uint64_t most = diff.equal;
  for (const Bar& bar : bars) most = std::max(most, bar.count);
  std::string html =
      "<figure class=histogram>\n<figcaption>Absolute errors by decade<br><small>pairs of finite "
      "numbers; bars are as long as the logarithm of the count</small></figcaption>\n"
      "<table>\n<thead><tr><th class=n>error<th><th class=n>pairs<th class=n>mismatched</thead>\n"
      "<tbody>\n";
  if (diff.equal > 0) html += bar_row("0", diff.equal, 0, most);
  for (const Bar& bar : bars)
    html +=
        bar_row(power(bar.first) + " – " + power(bar.last + 1), bar.count, bar.mismatched, most);
  return html +
         "</tbody></table>\n<p class=legend><span><svg width=12 height=12 aria-hidden=true><rect "
         "class=all width=12 height=12 /></svg>accepted</span>\n<span><svg width=12 height=12 "
         "aria-hidden=true><rect class=bad width=12 height=12 /></svg>mismatched</span></p>\n"
         "</figure>\n";
}

std::string html_heatmap(const Heatmap& map, const Dims& dims, const std::string& picked) {
  return HeatPicture(map, dims).html(picked);
}

}  // namespace btf::report
