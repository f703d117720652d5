#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "btf/value.h"
#include "report/diff/heatmap_scale.h"
#include "report/diff/page/parts.h"
#include "report/diff/text.h"
#include "report/page/html_text.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::size_t kMostElements = 100;  // of a table
constexpr std::size_t kMaxRank = 16;        // of a shape or an index; the middle is left out

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
    if (rows_++ >= kMostElements) return;
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
        rows_ > kMostElements
            ? fmt::format("<p class=note>{} more are not listed.</p>\n", rows_ - kMostElements)
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

}  // namespace

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

std::string html_pair(const TensorDiff& diff) {
  const std::string actual = diff.actual ? std::to_string(diff.actual->index) : "–";
  const std::string golden = diff.golden ? std::to_string(diff.golden->index) : "–";
  return actual == golden ? actual : actual + " / " + golden;
}

std::string html_section(const TensorDiff& diff, const std::string& title,
                         const std::string& anchor, const std::vector<std::int32_t>& axes,
                         const MemberNames& names) {
  return fmt::format("<section id={}>\n<h2>{} {}</h2>\n<p class=sides>{}</p>\n", anchor, title,
                     html_result("different"), html_sides(diff)) +
         hint_list(diff) + criteria_list(diff) + figure_grid(diff, names) + pictures(diff, axes) +
         elements(diff) + "<p class=up><a href=\"#top\">Back to the top</a></p>\n</section>\n";
}

}  // namespace btf::report
