// The parts that the page of a comparison is made of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/report.h"
#include "report/diff/heatmap.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/diff/sets.h"
#include "report/diff/text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// The tensors as the chart of a comparison shows them.

// Where tensors are very many, of each few the worst is kept.
class ChartItems {
 public:
  // `error`: of all elements, by golden; below 0: not known. `title` is HTML, asked for only if the
  // tensor is kept; `mark`: "plain", "root" or "dump".
  void add(const std::function<std::string()>& title, const char* mark, double error);

  std::string html() const;

 private:
  struct Item {
    std::string title;
    const char* mark = "plain";
    double error = -1;

    double rank() const { return (mark == std::string_view("plain") ? 0 : 1e300) + error; }
  };

  void halve();

  std::vector<Item> items_;
  std::uint64_t number_ = 0;  // of the next
  std::uint64_t each_ = 1;    // so many are one item
};

constexpr std::size_t kMax = 2000;

void ChartItems::add(const std::function<std::string()>& title, const char* mark, double error) {
  Item item{.title = {}, .mark = mark, .error = error};
  const bool begins = number_ % each_ == 0;
  if (begins || item.rank() > items_.back().rank()) {
    item.title = title();
    if (begins) items_.emplace_back();
    items_.back() = std::move(item);
  }
  if (++number_ % each_ == 0 && items_.size() == 2 * kMax) halve();
}

std::string ChartItems::html() const {
  double least = HUGE_VAL;
  double most = 0;
  for (const Item& item : items_) {
    if (!(item.error > 0) || std::isinf(item.error)) continue;
    least = std::min(least, item.error);
    most = std::max(most, item.error);
  }
  return html_chart(
      {.items = items_.size(),
       .least = least,
       .most = most,
       .label = "relative error of each tensor",
       .legend = "<span class=error>relative error of each tensor, in their order: the root of "
                 "the sum of squared errors, by that of golden</span> <span "
                 "class=root>different</span> <span class=dump>missing or trouble</span>",
       .bands = {},
       .lines = {{"error",
                  [this](std::size_t i) {
                    return std::isinf(items_[i].error) ? HUGE_VAL : items_[i].error;
                  }}},
       .known = [this](std::size_t i) { return items_[i].error >= 0; },
       .rank = [this](std::size_t i) { return items_[i].rank(); },
       .low_marks = true,
       .mark = [this](std::size_t i) { return items_[i].mark; },
       .title = [this](std::size_t i) { return items_[i].title; }});
}

void ChartItems::halve() {
  for (std::size_t i = 0; i < kMax; ++i) {
    const bool second = items_[2 * i + 1].rank() > items_[2 * i].rank();
    Item worse = std::move(items_[2 * i + (second ? 1 : 0)]);
    items_[i] = std::move(worse);
  }
  items_.resize(kMax);
  each_ *= 2;
}

// ---- errors by decade

constexpr int kMaxBars = 24;

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
  const int width = (span + kMaxBars - 1) / kMaxBars;
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

// Errors by decade, as bars. Nothing to show: empty.
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

// `picked`: the reason for other axes than requested, or empty.
std::string html_heatmap(const Heatmap& map, const Dims& dims, const std::string& picked) {
  return HeatPicture(map, dims).html(picked);
}

constexpr std::size_t kMaxElements = 100;  // of a table
constexpr std::size_t kMaxRank = 16;       // of a shape or an index; the middle is left out

std::string dims_html(const Dims& dims) {
  if (dims.size() <= kMaxRank) return btf::dims_text(dims);
  const auto half = static_cast<std::ptrdiff_t>(kMaxRank / 2);
  const std::string left = btf::dims_text(Dims(dims.begin(), dims.begin() + half));
  const std::string right = btf::dims_text(Dims(dims.end() - half, dims.end()));
  return fmt::format("{}, …, {} (rank {})", left.substr(0, left.size() - 1), right.substr(1),
                     dims.size());
}

std::string type_html(const DiffTensor& tensor) {
  return fmt::format("<span class=side>{} {}</span>", html_text(dtype_text(tensor)),
                     html_text(layout_text(tensor.layout)));
}

std::string criteria_list(const TensorDiff& diff) {
  if (diff.criteria.empty()) return "";
  std::string html = "<ul class=criteria>\n";
  for (const CriterionResult& criterion : diff.criteria) {
    std::string_view text = criterion.text;
    for (const std::string_view end : {" ", ": "})
      if (text.starts_with(criterion.name + std::string(end)))
        text.remove_prefix(criterion.name.size() + end.size());
    html += fmt::format("<li class={}><b>{}</b> {}\n", criterion.passed ? "held" : "failed",
                        html_text(criterion.name), html_text(text));
  }
  return html + "</ul>\n";
}

std::string hint_list(const TensorDiff& diff) {
  std::string html;
  for (std::size_t i = 0; i < diff.hints.size(); ++i)
    html += fmt::format("<p class=hint><span>{}</span> <b>{}</b> {}</p>\n",
                        i == 0 ? "Likely cause" : "Or", html_text(cause_text(diff.hints[i])),
                        html_text(diff.hints[i].evidence));
  return html;
}

// "3 both, 1 actual only at [0, 3]"; empty if there are none.
class Specials {
 public:
  Specials& add(std::uint64_t count, std::string_view where,
                const std::optional<Dims>& first = {}) {
    if (count == 0) return *this;
    text_ += (text_.empty() ? "" : ", ") + html_count(count) + " " + std::string(where);
    if (first) text_ += (count > 1 ? ", the first at " : " at ") + dims_html(*first);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string nan_text(const TensorDiff& diff) {
  return Specials()
      .add(diff.nan.both, "both", diff.first_nonfinite.nan_both)
      .add(diff.nan.actual, "actual only", diff.first_nonfinite.nan_actual)
      .add(diff.nan.golden, "golden only", diff.first_nonfinite.nan_golden)
      .text();
}

std::string inf_text(const TensorDiff& diff) {
  return Specials()
      .add(diff.inf.both, "both", diff.first_nonfinite.inf_both)
      .add(diff.inf.actual, "actual only", diff.first_nonfinite.inf_actual)
      .add(diff.inf.golden, "golden only", diff.first_nonfinite.inf_golden)
      .add(diff.inf.opposite, "of opposite signs", diff.first_nonfinite.inf_opposite)
      .text();
}

// Which tolerances would do, if it is the elements that failed.
std::string required_text(const TensorDiff& diff, const MemberNames& names) {
  const auto failed = [&](bool by_count) {
    return std::ranges::any_of(diff.criteria, [&](const CriterionResult& criterion) {
      const bool counts = criterion.name == "elements" || criterion.name == "max-mismatch";
      return !criterion.passed && counts == by_count;
    });
  };
  if (!failed(true)) return "";
  std::string text;
  for (const std::string& options : passing_options(diff, names))
    text += (text.empty() ? "" : ", or ") + ("<code>" + options + "</code>");
  if (text.empty())
    return "<p class=required>No tolerance would accept it: NaN or Inf do not agree.</p>\n";
  return fmt::format("<p class=required>{} {}.</p>\n",
                     failed(false) ? "The elements alone would pass with" : "Would pass with",
                     text);
}

// "3 of 192 (1.56%)"
std::string share_text(const TensorDiff& diff) {
  const std::string all = " of " + html_count(diff.compared);
  if (!diff.mismatched_known) return "some" + all;
  const std::string count = html_count(diff.mismatched) + all;
  return diff.compared == 0
             ? count
             : count + " (" + html_text(percent(diff.mismatched, diff.compared)) + ")";
}

std::string figure_grid(const TensorDiff& diff, const MemberNames& names) {
  std::string html = "<dl class=figures>\n";
  const auto figure = [&](std::string_view name, const std::string& value) {
    html += fmt::format("<div><dt>{}<dd>{}</div>\n", name, value);
  };
  figure("mismatched", share_text(diff));
  figure("max abs", html_number(diff.max_abs));
  figure("max rel", html_number(diff.max_rel));
  figure("max steps", html_count(diff.max_ulp));
  if (diff.figures && diff.figures->pairs > 0)
    for (const FigureInfo& row : btf::figures())
      if (row.value != nullptr && row.judged(diff))
        figure(row.label, html_number(*diff.figures.*row.value) +
                              (row.unit.empty() ? "" : " " + std::string(row.unit)));
  for (const QuantileValue& quantile : diff.quantiles)
    figure("quantile " + number_text(quantile.q), html_number(quantile.value));
  if (diff.top_k)
    figure(fmt::format("top {}", diff.top_k->k),
           fmt::format("{} of {} rows disagree", html_count(diff.top_k->disagreeing),
                       html_count(diff.top_k->rows)));
  if (const std::string nan = nan_text(diff); !nan.empty()) figure("NaN", nan);
  if (const std::string inf = inf_text(diff); !inf.empty()) figure("Inf", inf);
  return html + "</dl>\n" + required_text(diff, names);
}

std::string pictures(const TensorDiff& diff, const std::vector<std::int32_t>& axes) {
  std::string html = html_histogram(diff);
  const Dims& dims = diff.golden->dims;
  if (diff.heatmap) html += html_heatmap(*diff.heatmap, dims, axes_trouble(axes, dims.size()));
  return html.empty() ? "" : "<div class=pictures>\n" + html + "</div>\n";
}

class ElementTable {
 public:
  explicit ElementTable(const TensorDiff& diff) : diff_(diff) {}

  void row(std::string_view mark, const Mismatch& found) {
    if (rows_++ >= kMaxElements) return;
    const DType a = diff_.actual->dtype;
    const DType g = diff_.golden->dtype;
    body_ += fmt::format(
        "<tr><td>{}{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td "
        "class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}\n",
        dims_html(found.index), mark, btf::value_text(a, found.actual_code),
        btf::value_text(g, found.golden_code), html_number(found.abs_error),
        html_number(found.rel_error), found.steps ? html_count(*found.steps) : "–",
        html_number(found.allowed), btf::code_text(a, found.actual_code),
        btf::code_text(g, found.golden_code), place(found.actual_offset),
        place(found.golden_offset));
  }

  std::string html(const std::string& title) const {
    if (rows_ == 0) return "";
    const std::string cut =
        rows_ > kMaxElements
            ? fmt::format("<p class=note>{} more are not listed.</p>\n", rows_ - kMaxElements)
            : "";
    return fmt::format(
        "<h3>{}</h3>\n<div class=scroll><table class=elements>\n<thead><tr><th>index"
        "<th class=n>actual<th class=n>golden<th class=n>error<th class=n>relative<th "
        "class=n>steps<th class=n>allowed<th class=n>actual code<th class=n>golden code<th "
        "class=n>actual byte<th class=n>golden byte</thead>\n<tbody>\n{}</tbody></table></div>\n{}",
        title, body_, cut);
  }

 private:
  static std::string place(const std::optional<std::uint64_t>& offset) {
    return offset ? std::to_string(*offset) : "not stored";
  }

  const TensorDiff& diff_;
  std::size_t rows_ = 0;
  std::string body_;
};

std::string elements(const TensorDiff& diff) {
  ElementTable worst(diff);
  // Where only NaN and Inf mismatch there is no error to be the largest.
  if (diff.worst_abs && std::isfinite(diff.worst_abs->abs_error)) {
    const std::string_view mark = " <small>largest relative</small>";
    const auto is_worst = [&](const Mismatch& found) {
      return diff.worst_rel && found.index == diff.worst_rel->index;
    };
    if (diff.worst_rel && std::ranges::none_of(diff.largest, is_worst))
      worst.row(mark, *diff.worst_rel);
    for (const Mismatch& found : diff.largest) worst.row(is_worst(found) ? mark : "", found);
  }
  ElementTable first(diff);
  for (const Mismatch& found : diff.first) first.row("", found);
  const bool all = diff.first.size() == diff.mismatched;
  return worst.html("Largest errors") +
         first.html(all ? "All mismatches"
                        : fmt::format("First {} of {} mismatches", html_count(diff.first.size()),
                                      html_count(diff.mismatched)));
}

// Dtype, layout and shape of the pair, of both sides where they differ.
std::string html_sides(const TensorDiff& diff) {
  const auto side = [](const DiffTensor& tensor) {
    if (!tensor.known) return std::string("–");
    return type_html(tensor) + " <small class=dims>" + dims_html(tensor.dims) + "</small>";
  };
  if (!diff.actual || (diff.golden && !diff.actual->known)) return side(*diff.golden);
  if (!diff.golden || !diff.golden->known) return side(*diff.actual);
  std::string type = type_html(*diff.actual);
  if (const std::string golden = type_html(*diff.golden); golden != type)
    type += " <small>against</small> " + golden;
  std::string shape = dims_html(diff.actual->dims);
  if (diff.golden->dims != diff.actual->dims) shape += " against " + dims_html(diff.golden->dims);
  return type + " <small class=dims>" + shape + "</small>";
}

// The tensors' indices: "3", "3 / 5"; "3 / –" where one side has none.
std::string html_pair(const TensorDiff& diff) {
  const std::string actual = diff.actual ? std::to_string(diff.actual->index) : "–";
  const std::string golden = diff.golden ? std::to_string(diff.golden->index) : "–";
  return actual == golden ? actual : actual + " / " + golden;
}

// Everything about a tensor that differs. `axes`: the requested axes of the heat map.
std::string html_section(const TensorDiff& diff, const std::string& title,
                         const std::string& anchor, const std::vector<std::int32_t>& axes,
                         const MemberNames& names) {
  return fmt::format("<section id={}>\n<h2>{} {}</h2>\n<p class=sides>{}</p>\n", anchor, title,
                     html_result("different"), html_sides(diff)) +
         hint_list(diff) + criteria_list(diff) + figure_grid(diff, names) + pictures(diff, axes) +
         elements(diff) + "<p class=up><a href=\"#top\">Back to the top</a></p>\n</section>\n";
}

constexpr std::uint64_t kMaxOpen = 20;  // more tensors that are the same are folded away
constexpr std::uint64_t kMaxSections = 50;
constexpr std::size_t kMaxDetail = 16U << 20;  // bytes
constexpr const char* kEmptyFigureCells = "<td><td><td><td class=rel><td class=steps><td>";

// Empty where there is none, or it is the file's.
std::string own_name(const TensorDiff& diff, const FilePair& pair) {
  const auto named = [](const std::optional<DiffTensor>& side) { return side && side->named; };
  if (!named(diff.actual) && !named(diff.golden)) return "";
  const std::string name = set_name(diff, pair, false);
  return name == printable(pair.name) ? "" : html_name(name);
}

std::string why_cell(const TensorDiff& diff) {
  if (diff.hints.empty()) return "<td class=why>" + html_text(diff.reason);
  const Hint& hint = diff.hints.front();
  return "<td class=why><b>" + html_text(cause_text(hint)) + "</b> <small>" +
         html_text(hint.evidence) + "</small>";
}

std::string figures_cells(const TensorDiff& diff) {
  const auto count = static_cast<double>(diff.mismatched);
  const bool share = diff.compared > 0 && diff.mismatched_known;
  const bool figures = diff.figures && diff.figures->pairs > 0 && !std::isnan(diff.figures->cosine);
  return why_cell(diff) +
         html_figure("", "mismatched", diff.mismatched_known ? count : -1,
                     diff.mismatched_known ? html_count(diff.mismatched) : std::string("some")) +
         html_figure("", "share", share ? count / static_cast<double>(diff.compared) : -1,
                     share ? html_text(percent(diff.mismatched, diff.compared)) : "–") +
         html_figure("", "max abs", diff.max_abs, html_number(diff.max_abs)) +
         html_figure("rel", "max rel", diff.max_rel, html_number(diff.max_rel)) +
         html_figure("steps", "max steps", static_cast<double>(diff.max_ulp),
                     html_count(diff.max_ulp)) +
         html_figure("", "cosine", figures ? diff.figures->cosine : -2,
                     figures ? html_number(diff.figures->cosine) : "–");
}

// "3 of 12 tensors differ"
std::string sum_text(const DiffTotals& totals) {
  const std::uint64_t all = totals.tensors;
  const std::uint64_t different = totals.different_tensors;
  std::string text;
  if (all == 0)
    text = "no tensors were compared";
  else if (all == 1)
    text = different == 1 ? "the only tensor differs" : "the only tensor is the same";
  else if (different == 0)
    text = "all " + html_count(all) + " tensors are the same";
  else
    text = html_count(different) + " of " + html_count(all) + " tensors " +
           (different == 1 ? "differs" : "differ");
  if (totals.troubled_files > 0 && totals.directories)
    text += "; " + counted(totals.troubled_files, "file") + " could not be compared";
  else if (totals.partly())
    text += "; " + counted(totals.troubled_tensors, "tensor") + " could not be compared";
  return text;
}

// The rows of a table, up to a bound.
struct Rows {
  std::string html;
  std::uint64_t kept = 0;
  std::uint64_t all = 0;

  void add(std::string_view row) {
    if (++all > kMaxRows) return;
    ++kept;
    html += row;
    html += '\n';
  }
};

class HtmlReport final : public DiffReport {
 public:
  HtmlReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), sink_(std::move(sink)), directories_(options_.directories) {}

  void begin(const FilePair& pair) override {
    pair_ = pair;
    troubled_ = false;
  }
  void take(const TensorDiff& diff) override;
  void end(const FilePair& pair, const PairOutcome& outcome) override;
  Status finish(const DiffTotals& totals) override;

 private:
  void pair_row(std::string_view result, const std::string& note);
  std::string path_cell() const;
  std::vector<std::int32_t> axes() const {
    return options_.criteria.heatmap ? options_.criteria.heatmap->axes
                                     : std::vector<std::int32_t>();
  }
  std::string head(const DiffTotals& totals) const;
  std::string overview(const DiffTotals& totals) const;
  std::string table(const Rows& rows) const;
  std::string notes_table(const Rows& rows) const;
  Rows& rows_of(DiffResult result);
  void chart(const TensorDiff& diff, const std::string& name);
  std::string left_out() const;
  std::string same_ones() const;

  ReportOptions options_;
  TextSink sink_;
  bool directories_;
  FilePair pair_;
  bool troubled_ = false;       // a tensor of it
  std::uint64_t detailed_ = 0;  // have a section, or would have had one
  std::uint64_t sections_ = 0;
  std::uint64_t compared_ = 0;  // elements
  static constexpr std::size_t kMaxUncompared = 5;
  std::vector<std::string> uncompared_;  // sentences
  std::uint64_t mismatched_ = 0;
  bool counted_ = true;  // mismatched_ is known
  Rows different_;
  Rows missing_;
  Rows trouble_;
  Rows same_;
  ChartItems chart_;
  std::string details_;
};

Rows& HtmlReport::rows_of(DiffResult result) {
  if (result == DiffResult::same) return same_;
  if (result == DiffResult::missing) return missing_;
  return result == DiffResult::trouble ? trouble_ : different_;
}

void HtmlReport::chart(const TensorDiff& diff, const std::string& name) {
  const bool same = diff.result == DiffResult::same;
  const bool different = diff.result == DiffResult::different;
  double error = -1;
  if ((same || different) && diff.figures && diff.figures->pairs > 0 &&
      !std::isnan(diff.figures->snr))
    error = diff.max_abs == 0 ? 0 : std::pow(10.0, -diff.figures->snr / 20);
  const bool shape = diff.result == DiffResult::shape;
  chart_.add(
      [&] {
        return (directories_ ? html_text(pair_.name) + " · " : "") + name + ": " +
               (error >= 0 ? fmt::format("relative error {:.3g} %", 100 * error)
                           : result_name(diff.result));
      },
      same                 ? "plain"
      : different || shape ? "root"
                           : "dump",
      error);
}

void HtmlReport::take(const TensorDiff& diff) {
  compared_ += diff.compared;
  mismatched_ += diff.mismatched;
  counted_ = counted_ && diff.mismatched_known;
  const bool same = diff.result == DiffResult::same;
  const bool trouble = diff.result == DiffResult::trouble;
  const bool valued = diff.actual && diff.golden && diff.result != DiffResult::shape && !trouble;
  const std::string number = html_pair(diff);
  const std::string own = own_name(diff, pair_);
  std::string name = own.empty() ? number : own;
  chart(diff, html_text(set_name(diff, pair_, false)));
  if (!same && valued) {
    ++detailed_;
    if (sections_ < kMaxSections && details_.size() < kMaxDetail) {
      const std::string anchor = fmt::format("d{}", ++sections_);
      const std::string file = directories_ ? html_name(pair_.name) + " · " : "";
      const std::string title = own.empty() ? "Tensor " + number : own;
      details_ += html_section(diff, file + title, anchor, axes(), options_.member_names);
      name = fmt::format("<a href=\"#{}\">{}</a>", anchor, name);
    }
  }
  const std::string tensor =
      own.empty() ? "<td class=path>" + std::string("Tensor ") + name
                  : "<td class=path>" + name + " <small class=dims>" + number + "</small>";
  std::string row = "<tr>" + path_cell() + tensor + "<td class=type>" + html_sides(diff) + "<td>" +
                    html_result(result_name(diff.result));
  if (valued)
    row += figures_cells(diff);
  else
    row += "<td class=why>" + html_text(headline(diff)) +
           (diff.result == DiffResult::shape ? kEmptyFigureCells : "");
  rows_of(diff.result).add(row);
  troubled_ = troubled_ || trouble;
}

void HtmlReport::end(const FilePair& pair, const PairOutcome& outcome) {
  if (of_whole_files(outcome.result))
    pair_row(result_name(outcome.result), whole_files_text(pair, outcome));
  if (!outcome.files.all.empty()) pair_row("different", file_differences_text(outcome));
  if (!outcome.files.uncompared.empty() && uncompared_.size() < kMaxUncompared)
    uncompared_.push_back((directories_ ? printable(pair.name) + ": " : "") +
                          printable(outcome.files.uncompared));
  if (outcome.result == PairResult::trouble && !troubled_) pair_row("trouble", outcome.error);
}

void HtmlReport::pair_row(std::string_view result, const std::string& note) {
  const bool trouble = result == "trouble";
  const bool missing = result == "missing";
  (trouble   ? trouble_
   : missing ? missing_
             : different_)
      .add("<tr>" + path_cell() + "<td class=path>–<td class=type>–<td>" + html_result(result) +
           "<td class=why>" + html_text(note) + (trouble || missing ? "" : kEmptyFigureCells));
}

std::string HtmlReport::path_cell() const {
  return directories_ ? "<td class=path>" + html_name(pair_.name) : "";
}

std::string HtmlReport::head(const DiffTotals& totals) const {
  const std::string result = result_name(totals.result());
  PageOrigin origin = options_.origin;
  if (totals.newest_input) origin.newest_input = totals.newest_input;
  return page_begin(fmt::format("{}: {} against {}", result, html_text(options_.actual),
                                html_text(options_.golden))) +
         fmt::format("<header id=top>\n{}<h1>{} <span>{}</span></h1>\n",
                     html_origin(origin, "btftool diff"), html_result(result), sum_text(totals));
}

std::string HtmlReport::overview(const DiffTotals& totals) const {
  std::string html = "<dl class=facts>\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    html += fmt::format("<div><dt>{}<dd>{}</div>\n", name, value);
  };
  fact("actual", html_name(options_.actual));
  fact("golden", html_name(options_.golden));
  fact("accepted", html_text(common_criteria_text(options_, totals.close)));
  if (directories_)
    fact("files", fmt::format("{}, {} different", html_count(totals.files),
                              html_count(totals.different_files)));
  if (totals.first_different && (totals.tensors > 1 || directories_))
    fact("first different", html_name(*totals.first_different));
  if (const std::string paired = pairing_text(totals.pairing); !paired.empty())
    fact("paired", html_text(paired));
  std::string elements = html_count(compared_) + " compared, ";
  if (mismatched_ == 0)
    elements += "none mismatched";
  else if (!counted_)
    elements += "some mismatched";
  else
    elements += html_count(mismatched_) + " mismatched (" +
                html_text(percent(mismatched_, compared_)) + ")";
  fact("elements", elements);
  for (const std::string& what : uncompared_) fact("not compared", html_text(what));
  return html + "</dl>\n</header>\n";
}

std::string HtmlReport::table(const Rows& rows) const {
  return fmt::format(
      "<table class=\"summary sortable{}\">\n<thead><tr>{}<th>tensor<th>type and shape<th>result"
      "<th class=why>likely cause<th class=n>mismatched<th class=n>share<th class=n>max abs<th "
      "class=\"n rel\">max rel<th class=\"n steps\">max steps<th class=n>cosine</thead>\n"
      "<tbody>\n{}</tbody>\n</table>\n",
      &rows == &same_ ? " short" : "", directories_ ? "<th>file" : "", rows.html);
}

// The table of pairs that have no figures.
std::string HtmlReport::notes_table(const Rows& rows) const {
  const std::string cut = rows.all > rows.kept
                              ? fmt::format("<p class=note>{} more are not listed.</p>\n",
                                            html_count(rows.all - rows.kept))
                              : "";
  return fmt::format(
      "<table class=\"summary sortable\">\n<thead><tr>{}<th>tensor<th>type and shape<th>result<th "
      "class=why>why</thead>\n<tbody>\n{}</tbody>\n</table>\n{}",
      directories_ ? "<th>file" : "", rows.html, cut);
}

std::string HtmlReport::left_out() const {
  std::string text;
  if (different_.all > different_.kept)
    text += fmt::format("The table ends after {} of {} rows. ", html_count(different_.kept),
                        html_count(different_.all));
  if (detailed_ > sections_)
    text += fmt::format("The first {} of {} different tensors have a section below; {}.",
                        html_count(sections_), html_count(detailed_),
                        in_words(options_.member_names, "`tensors` chooses others"));
  return text.empty() ? "" : "<p class=note>" + text + "</p>\n";
}

std::string HtmlReport::same_ones() const {
  const std::string more = same_.all > same_.kept
                               ? fmt::format("<p class=note>{} more are not listed.</p>\n",
                                             html_count(same_.all - same_.kept))
                               : "";
  return fmt::format("<details{}><summary>{} {} the same</summary>\n{}{}</details>\n",
                     same_.all <= kMaxOpen ? " open" : "", counted(same_.all, "tensor"),
                     same_.all == 1 ? "is" : "are", table(same_), more);
}

Status HtmlReport::finish(const DiffTotals& totals) {
  std::string page = head(totals) + overview(totals) + chart_.html();
  if (different_.all + missing_.all + trouble_.all + same_.all > 1) page += filter_box();
  if (different_.all > 0) page += "<h2>Different</h2>\n" + table(different_) + left_out();
  if (missing_.all > 0) page += "<h2>Missing</h2>\n" + notes_table(missing_);
  if (trouble_.all > 0) page += "<h2>Trouble</h2>\n" + notes_table(trouble_);
  if (same_.all > 0) page += same_ones();
  page += details_;
  page +=
      "<footer>Errors are |actual − golden|, relative ones by |golden|. Largest errors, steps and "
      "figures are over the pairs of finite numbers; NaN and Inf are counted apart. Steps are of "
      "the coarser dtype.</footer>\n" +
      page_end();
  return sink_(page);
}

}  // namespace

std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink) {
  return std::make_unique<HtmlReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report
