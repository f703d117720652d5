#include "report/diff/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "btf/dtype.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// Returns true for floats of opposite signs that are not both close to zero. Their distance in
// steps says nothing.
bool opposite_signs(const Mismatch& mismatch, const TensorDiff& diff);

constexpr std::uint64_t kMaxTold = 999'999;
constexpr std::uint64_t kAboutZero = 16;

bool tells(std::uint64_t steps) { return steps <= kMaxTold; }

// Returns true if the largest distance in steps is small enough to be useful.
bool tells_steps(const TensorDiff& diff) {
  const auto most = [&](const std::optional<Mismatch>& worst) {
    return worst && worst->steps == diff.max_ulp && opposite_signs(*worst, diff);
  };
  return tells(diff.max_ulp) && !most(diff.worst_abs) && !most(diff.worst_rel);
}

bool opposite_signs(const Mismatch& mismatch, const TensorDiff& diff) {
  const DType actual = diff.actual->dtype;
  const DType golden = diff.golden->dtype;
  return mismatch.steps.value_or(0) > kAboutZero && info(actual).floating() &&
         info(golden).floating() &&
         std::signbit(value_double(actual, mismatch.actual_code)) !=
             std::signbit(value_double(golden, mismatch.golden_code));
}

// ", 3 steps", ", opposite signs", or an empty string if the number is not useful and `all` is not
// set.
std::string steps_text(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  if (!mismatch.steps) return {};
  if (all) return ", " + counted(*mismatch.steps, "step");
  if (opposite_signs(mismatch, diff)) return ", opposite signs";
  return tells(*mismatch.steps) ? ", " + counted(*mismatch.steps, "step") : "";
}

// The same for a cell of a table: "3", "sign", "-".
std::string steps_cell(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  if (!mismatch.steps) return "-";
  if (all) return std::to_string(*mismatch.steps);
  if (opposite_signs(mismatch, diff)) return "sign";
  return tells(*mismatch.steps) ? std::to_string(*mismatch.steps) : "many";
}

constexpr std::size_t kMaxDecades = 9;  // columns of the histogram
constexpr std::size_t kMinDecades = 3;

// The height is logarithmic, because a few large errors matter as much as many small ones.
std::string bar(std::uint64_t count, std::uint64_t most) {
  constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (count == 0) return " ";
  const double share =
      most <= 1 ? 1 : std::log(static_cast<double>(count)) / std::log(static_cast<double>(most));
  return kBars[static_cast<std::size_t>(std::lround(7 * share))];
}

struct Column {
  std::string label;
  std::uint64_t count = 0;
  std::uint64_t refused = 0;
};

// A column for equal elements, and one for each decade. If there are too many, the smallest errors
// share a column.
std::vector<Column> histogram_columns(const TensorDiff& diff, std::size_t most) {
  std::vector<Column> columns{{"equal", diff.equal, 0}};
  const std::size_t room = most - 1;
  const std::size_t size = diff.decades.size();
  const std::size_t from = size > room ? size - room + 1 : 0;
  if (from > 0) {
    Column small{fmt::format("<1e{}", diff.decades[from - 1].decade + 1)};
    for (std::size_t i = 0; i < from; ++i) {
      small.count += diff.decades[i].count;
      small.refused += diff.decades[i].mismatched;
    }
    columns.push_back(small);
  }
  for (std::size_t i = from; i < size; ++i)
    columns.push_back({fmt::format("1e{}", diff.decades[i].decade), diff.decades[i].count,
                       diff.decades[i].mismatched});
  return columns;
}

std::string offset_cell(const std::optional<std::uint64_t>& offset) {
  return offset ? std::to_string(*offset) : "not stored";
}

// Rows with labels, with counts and bars, and with refused mismatches unless all were refused.
std::vector<std::array<std::string, 2>> histogram_rows(const std::vector<Column>& columns) {
  std::uint64_t most = 0;
  bool all_refused = true;
  for (const Column& column : columns) {
    most = std::max(most, column.count);
    all_refused = all_refused && (column.label == "equal" || column.refused == column.count);
  }
  std::string labels;
  std::string counts;
  std::string refused;
  for (const Column& column : columns) {
    const std::size_t width =
        std::max(column.label.size(), std::to_string(column.count).size() + 2) + 2;
    labels += pad_left(column.label, width);
    const std::string count = std::to_string(column.count);
    counts += std::string(width - count.size() - 2, ' ') + bar(column.count, most) + " " + count;
    refused += pad_left(column.label == "equal" ? "" : std::to_string(column.refused), width);
  }
  std::vector<std::array<std::string, 2>> rows{{"errors by decade", labels}, {"", counts}};
  if (!all_refused) rows.push_back({"  refused", refused});
  return rows;
}

using Cells = std::array<std::string, 9>;
using Widths = std::array<std::size_t, std::tuple_size_v<Cells>>;

// If there is no room, columns are dropped: codes first, then bytes, then steps.
constexpr std::size_t kSteps = 4;
constexpr auto kLeftOut = std::to_array<std::pair<std::size_t, std::size_t>>(
    {{kSteps + 1, kSteps + 3}, {kSteps + 3, kSteps + 5}, {kSteps, kSteps + 1}});

constexpr std::string_view kCellGap = "  ";

// Returns the width of each column, 0 if it is dropped.
Widths fitting_widths(const std::vector<Cells>& lines, std::size_t room) {
  Widths widths{};
  for (const Cells& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  for (const auto& [from, to] : kLeftOut) {
    std::size_t all = 0;
    for (const std::size_t width : widths) all += width == 0 ? 0 : width + kCellGap.size();
    if (all <= room || all - kCellGap.size() <= room) break;
    std::fill(widths.begin() + static_cast<std::ptrdiff_t>(from),
              widths.begin() + static_cast<std::ptrdiff_t>(to), 0);
  }
  return widths;
}

Cells cells_of(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  return {btf::dims_text(mismatch.index),
          btf::value_text(diff.actual->dtype, mismatch.actual_code),
          btf::value_text(diff.golden->dtype, mismatch.golden_code),
          fmt::format("{:.6g}", mismatch.abs_error),
          steps_cell(mismatch, diff, all),
          btf::code_text(diff.actual->dtype, mismatch.actual_code),
          btf::code_text(diff.golden->dtype, mismatch.golden_code),
          offset_cell(mismatch.actual_offset),
          offset_cell(mismatch.golden_offset)};
}

// Returns labelled rows: the decades, the number of errors in each, and how many of them are
// refused, unless all are. Empty if there are no finite errors. `room` is the width of a row in
// columns; if it is too small, the smallest decades share a column.
std::vector<std::array<std::string, 2>> error_histogram(const TensorDiff& diff, std::size_t room) {
  if (diff.decades.empty()) return {};
  for (std::size_t most = kMaxDecades;; --most) {
    auto rows = histogram_rows(histogram_columns(diff, most));
    if (most == kMinDecades || columns_of(rows.front()[1]) <= room) return rows;
  }
}

// The first and the largest mismatches under one header, each element once, within `room` columns.
// If `all_steps` is set, it includes distances in steps that say little.
std::vector<std::string> mismatch_table(const TensorDiff& diff, std::size_t room, bool all_steps) {
  if (diff.first.empty()) return {};
  const bool all = diff.first.size() == diff.mismatched;
  // Titles are in the first column; the line of the first one also has the header.
  const std::string title = all ? fmt::format("all {} mismatches", diff.mismatched)
                                : fmt::format("first {} of {}", diff.first.size(), diff.mismatched);
  std::vector<Cells> lines{{diff.mismatched == 1 ? "the mismatch" : title, "actual", "golden",
                            "error", "steps", "actual code", "golden code", "actual byte",
                            "golden byte"}};
  for (const Mismatch& mismatch : diff.first) lines.push_back(cells_of(mismatch, diff, all_steps));
  std::vector<Cells> largest;
  for (const Mismatch& mismatch : diff.largest)
    if (std::ranges::find(diff.first, mismatch.index, &Mismatch::index) == diff.first.end())
      largest.push_back(cells_of(mismatch, diff, all_steps));
  if (!all && !largest.empty()) {
    lines.push_back({largest.size() < diff.largest.size() ? "other largest" : "largest"});
    lines.insert(lines.end(), largest.begin(), largest.end());
  }
  const Widths widths = fitting_widths(lines, room);
  std::vector<std::string> rows;
  for (const Cells& line : lines) {
    std::string row = pad_right(line[0], widths[0]);
    for (std::size_t c = 1; c < line.size(); ++c)
      if (widths[c] > 0) row.append(kCellGap).append(pad_left(line[c], widths[c]));
    row.resize(row.find_last_not_of(' ') + 1);
    rows.push_back(without_end(row, room));
  }
  return rows;
}

std::string line(std::string_view label, const std::string& text) {
  return "  " + pad_right(label, 16) + " " + text;
}

std::string offset_text(const std::optional<std::uint64_t>& offset) {
  return offset ? fmt::format("byte {}", *offset) : "no byte";
}

std::string error_tolerance(const Tolerance& tolerance) {
  return fmt::format("rtol {}, atol {}{}", number_text(tolerance.rtol.value_or(0)),
                     number_text(tolerance.atol.value_or(0)),
                     tolerance.half_step ? ", or half a step" : "");
}

// "rtol 0.001, atol 0, ulp 4"
std::string tolerance_text(const Tolerance& tolerance, bool always) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (tolerance.rtol || tolerance.atol || (always && !tolerance.given()))
    add(error_tolerance(tolerance));
  if (tolerance.ulp) add("ulp " + std::to_string(*tolerance.ulp));
  return text;
}

// The tolerance for all tensors. With --close, rtol and atol depend on the tensor.
std::string general_tolerance(const DiffOptions& criteria, const std::string& close) {
  const Tolerance& general = criteria.tolerance;
  if (!general.close) return tolerance_text(general, !criteria.gates.given());
  const std::string as =
      general.close_as ? "close as " + std::string(btf::info(*general.close_as).name) : "close";
  return (close.empty() ? as : as + ": " + close) +
         (general.ulp ? ", ulp " + std::to_string(*general.ulp) : "");
}

// "rtol 0.001, atol 1e-05; or rtol 0, atol 0"
std::string close_text(const std::vector<Tolerance>& close) {
  std::string text;
  for (const Tolerance& used : close) text += (text.empty() ? "" : "; or ") + error_tolerance(used);
  return text;
}

bool failed(const TensorDiff& diff, bool (*which)(const CriterionResult&)) {
  return std::ranges::any_of(diff.criteria,
                             [&](const CriterionResult& c) { return !c.passed && which(c); });
}

bool is_elements(const CriterionResult& criterion) { return criterion.name == "elements"; }
bool is_other(const CriterionResult& criterion) { return !is_elements(criterion); }
bool is_counted(const CriterionResult& criterion) {
  return is_elements(criterion) || criterion.name == "max-mismatch";
}
bool is_figure(const CriterionResult& criterion) { return !is_counted(criterion); }

void add_failed(const TensorDiff& diff, std::vector<std::string>& lines) {
  if (!failed(diff, is_other)) return;  // the headline has it
  for (const CriterionResult& criterion : diff.criteria)
    if (!criterion.passed && criterion.name != "strict")
      lines.push_back(line("failed", printable(criterion.text)));
}

std::string worst_text(const Mismatch& mismatch, const TensorDiff& diff, bool all) {
  std::string text = fmt::format("{}: {} against {}", btf::dims_text(mismatch.index),
                                 btf::value_text(diff.actual->dtype, mismatch.actual_code),
                                 btf::value_text(diff.golden->dtype, mismatch.golden_code));
  text += fmt::format(", error {:.4g} ({:.3g} relative)", mismatch.abs_error, mismatch.rel_error);
  // If only steps are limited, any absolute error is allowed.
  if (mismatch.allowed > 0 && std::isfinite(mismatch.allowed))
    text += fmt::format(", allowed {:.4g}", mismatch.allowed);
  // With --ulp, steps are what is judged, so they are always printed.
  text += steps_text(mismatch, diff, all || diff.tolerance.ulp);
  if (mismatch.steps && diff.tolerance.ulp)
    text += fmt::format(" ({} allowed)", *diff.tolerance.ulp);
  const std::string actual = offset_text(mismatch.actual_offset);
  const std::string golden = offset_text(mismatch.golden_offset);
  return text + (actual == golden ? ", both at " + actual : ", " + actual + " and " + golden);
}

void add_worst(const TensorDiff& diff, bool all, std::vector<std::string>& lines) {
  // If only NaN and Inf mismatch, there is no largest error.
  if (!diff.worst_abs || !std::isfinite(diff.worst_abs->abs_error)) return;
  const bool one = !diff.worst_rel || diff.worst_rel->index == diff.worst_abs->index;
  lines.push_back(line(one ? "worst" : "worst absolute", worst_text(*diff.worst_abs, diff, all)));
  if (!one) lines.push_back(line("worst relative", worst_text(*diff.worst_rel, diff, all)));
}

void add_figures(const TensorDiff& diff, const ReportOptions& options,
                 std::vector<std::string>& lines) {
  const Gates& gates = options.criteria.gates;
  if (!diff.figures || diff.compared == 0) return;
  if (diff.figures->pairs == 0) {
    lines.push_back(line("figures", "none: there is no pair of finite numbers"));
    return;
  }
  const Figures& figures = *diff.figures;
  if (diff.max_abs == 0) {
    lines.push_back(
        line("figures", counted(figures.pairs, "pair") + " of finite numbers, all equal"));
    return;
  }
  const auto with_unit = [](const FigureInfo& row, double value) {
    if (row.unit.empty()) return short_number(value);
    return (std::isfinite(value) ? fmt::format("{:.4g}", value) : number_text(value)) + " " +
           std::string(row.unit);
  };
  std::string text;
  for (const FigureInfo& row : btf::figures())
    if (row.value != nullptr && row.judged(diff) && (row.always_shown || gates.*row.limit))
      text += (text.empty() ? "" : ", ") +
              fmt::format("{} {}", row.name, with_unit(row, figures.*row.value));
  if (options.text.figures || tells_steps(diff))
    text += (text.empty() ? "" : ", ") + ("max " + counted(diff.max_ulp, "step"));
  if (figures.pairs != diff.compared)
    text += fmt::format(", over {} of finite numbers", counted(figures.pairs, "pair"));
  lines.push_back(line("figures", text));
}

// The tolerances that only this tensor was judged by.
void add_tolerance(const TensorDiff& diff, const Tolerance& general,
                   std::vector<std::string>& lines) {
  const Tolerance& used = diff.tolerance;
  if (used.rtol == general.rtol && used.atol == general.atol && used.ulp == general.ulp) return;
  lines.push_back(line("tolerance", tolerance_text(used, true)));
}

void add_required(const TensorDiff& diff, const ReportOptions& report,
                  std::vector<std::string>& lines) {
  if (diff.mismatched == 0) return;
  // Says nothing unless elements were judged by tolerances and failed.
  if (!failed(diff, is_counted)) return;
  const char* label = failed(diff, is_figure) ? "elements need" : "would pass with";
  if (!diff.required_atol) {
    lines.push_back("  no tolerance would accept it: NaN or Inf do not agree");
    return;
  }
  std::string text;
  for (const std::string& options : passing_options(diff, report.member_names, report.text.figures))
    text += (text.empty() ? "" : ", or ") + options;
  lines.push_back(line(label, text));
}

void add_hints(const TensorDiff& diff, std::vector<std::string>& lines) {
  constexpr std::size_t kMax = 3;
  for (std::size_t i = 0; i < std::min(kMax, diff.hints.size()); ++i) {
    const Hint& hint = diff.hints[i];
    lines.push_back(line(i == 0 ? "why" : "",
                         printable(fmt::format("{}: {}", cause_text(hint), hint.evidence))));
  }
}

}  // namespace

std::vector<std::string> passing_options(const TensorDiff& diff, const MemberNames& names,
                                         bool all) {
  if (!diff.required_atol) return {};
  const std::string atol = rounded_up(*diff.required_atol);
  std::vector<std::string> options{"`tolerance.atol` " + atol};
  // An rtol of 1 or more is left out: it would accept zeros everywhere.
  const std::string rtol = diff.required_rtol ? rounded_up(*diff.required_rtol) : "1";
  if (rtol != "1" && *diff.required_rtol < 1) options.push_back("`tolerance.rtol` " + rtol);
  if (diff.required_pair && rounded_up(diff.required_pair->atol) != atol)
    options.push_back(fmt::format("`tolerance.rtol` {} `tolerance.atol` {}",
                                  rounded_up(diff.required_pair->rtol),
                                  rounded_up(diff.required_pair->atol)));
  // 0 steps: unequal numbers that the coarser dtype cannot tell apart.
  if (all || diff.tolerance.ulp || tells_steps(diff))
    options.push_back(fmt::format("`tolerance.ulp` {}", diff.max_ulp));
  for (std::string& text : options) text = in_words(names, std::move(text));
  return options;
}

std::string rounded_up(double value) {
  const auto parse = [](const std::string& text) {
    double parsed = 0;
    std::from_chars(text.data(), text.data() + text.size(), parsed);
    return parsed;
  };
  const std::string exact = number_text(value);
  if (!std::isfinite(value) || value == 0 || exact.size() <= 6) return exact;
  std::string text = fmt::format("{:.3e}", value);
  if (parse(text) < value) {
    // One more in the last of the four digits.
    const std::size_t exponent = text.find('e');
    const int digits = std::stoi(text.substr(0, 1) + text.substr(2, exponent - 2)) + 1;
    text = fmt::format("{}e{}", digits, std::stoi(text.substr(exponent + 1)) - 3);
  }
  const double rounded = parse(text);
  return std::isfinite(rounded) && rounded >= value ? number_text(rounded) : exact;
}

// "3", or "3 'conv1.weight'" if the file has a name for the tensor.
std::string number_and_name(const DiffTensor& tensor) {
  return std::to_string(tensor.index) + (tensor.named ? " " + quoted_name(tensor.name) : "");
}

}  // namespace btf::report

namespace btf {

std::string pair_name(const TensorDiff& diff) {
  using report::number_and_name;
  if (!diff.actual) return fmt::format("tensor {} of golden", number_and_name(*diff.golden));
  if (!diff.golden) return fmt::format("tensor {} of actual", number_and_name(*diff.actual));
  const std::string actual = number_and_name(*diff.actual);
  const std::string golden = number_and_name(*diff.golden);
  if (actual == golden || (!diff.golden->named && diff.actual->index == diff.golden->index))
    return "tensor " + actual;
  if (diff.actual->named && diff.golden->named && diff.actual->name == diff.golden->name)
    return fmt::format("tensor {} against {}", diff.actual->index, golden);
  return fmt::format("tensor {} against {}", actual, golden);
}

}  // namespace btf

namespace btf::report {

std::string dtype_text(const DiffTensor& tensor) {
  return tensor.codes ? std::string(btf::info(*tensor.codes).name) + " codes"
                      : std::string(btf::info(tensor.dtype).name);
}

std::string sides_text(const TensorDiff& diff) {
  const auto side = [](const DiffTensor& tensor) {
    return dtype_text(tensor) + " " + layout_text(tensor.layout);
  };
  std::string text = side(*diff.actual);
  if (side(*diff.golden) != text) text += " against " + side(*diff.golden);
  return text + " " + btf::dims_text(diff.golden->dims);
}

namespace {

std::string specials_text(const TensorDiff& diff, bool of_both) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what,
                       const std::optional<Dims>& first = {}) {
    if (count == 0) return;
    text += fmt::format(", {} {}", count, what);
    if (first) text += (count > 1 ? ", the first at " : " at ") + btf::dims_text(*first);
  };
  const FirstNonfinite& first = diff.first_nonfinite;
  if (of_both) add(diff.nan.both, "NaN on both sides", first.nan_both);
  add(diff.nan.actual, "NaN in actual only", first.nan_actual);
  add(diff.nan.golden, "NaN in golden only", first.nan_golden);
  if (of_both) add(diff.inf.both, "Inf on both sides", first.inf_both);
  add(diff.inf.opposite, "Inf of opposite signs", first.inf_opposite);
  add(diff.inf.actual, "Inf in actual only", first.inf_actual);
  add(diff.inf.golden, "Inf in golden only", first.inf_golden);
  return text;
}

}  // namespace

std::string specials_text(const TensorDiff& diff) { return specials_text(diff, true); }

std::string unlike_specials_text(const TensorDiff& diff) { return specials_text(diff, false); }

// Saturated elements are refused like others, but counted apart.
std::string saturated_text(const TensorDiff& diff) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* side, const char* other) {
    if (count > 0) text += fmt::format(", saturated: {} in {}, {} is beyond", count, side, other);
  };
  add(diff.saturated.actual, "actual", "golden");
  add(diff.saturated.golden, "golden", "actual");
  return text;
}

std::string_view cause_text(const Hint& hint) {
  return hint.other_cause.empty() ? btf::cause_name(hint.cause) : hint.other_cause;
}

std::string refused_word(const Tolerance& tolerance) {
  return tolerance.given() ? "refused" : "unequal";
}

std::string headline(const TensorDiff& diff, bool all) {
  if (diff.error) return diff.error->text();
  if (diff.result == DiffResult::shape || diff.result == DiffResult::missing)
    return diff.reason + (diff.note.empty() ? "" : "; " + printable(diff.note)) +
           (diff.hints.empty() ? "" : ", " + printable(diff.hints.front().evidence));
  if (diff.mismatched == 0 && !diff.reason.empty())
    return fmt::format("{}; {} {}{}", printable(diff.reason), counted(diff.compared, "element"),
                       btf::dims_text(diff.golden->dims), specials_text(diff));
  std::string text;
  if (diff.result == DiffResult::same || diff.mismatched == 0)
    text = counted(diff.compared, "element");
  else if (!diff.mismatched_known)
    text = "some of " + counted(diff.compared, "element");
  else
    text = fmt::format("{} of {} ({})", diff.mismatched, counted(diff.compared, "element"),
                       percent(diff.mismatched, diff.compared));
  text += ", " + sides_text(diff) + specials_text(diff) + saturated_text(diff);
  if (diff.result == DiffResult::same) {
    if (diff.mismatched > 0)
      text +=
          fmt::format(", {} {}", diff.mismatched_known ? std::to_string(diff.mismatched) : "some",
                      refused_word(diff.tolerance));
    if (diff.max_abs > 0)
      text += ", worst error " + short_number(diff.max_abs) +
              (all || diff.tolerance.ulp || tells_steps(diff)
                   ? " (" + counted(diff.max_ulp, "step") + ")"
                   : "");
  }
  return text + (diff.reason.empty() ? "" : "; " + printable(diff.reason));
}

namespace {

std::string all_criteria(const ReportOptions& options, const std::string& close) {
  const DiffOptions& criteria = options.criteria;
  const Gates& gates = criteria.gates;
  std::string text = general_tolerance(criteria, close);
  const char* separator = criteria.tolerance.close ? "; " : ", ";
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : separator) + part; };
  constexpr std::size_t kNamed = 4;
  const auto& single = options.tensor_criteria;
  for (std::size_t i = 0; i < std::min(kNamed, single.size()); ++i) add(single[i]);
  if (single.size() > kNamed) add(fmt::format("{} more", single.size() - kNamed));
  if (gates.max_mismatch)
    add(fmt::format("max-mismatch {}{}", number_text(gates.max_mismatch->value),
                    gates.max_mismatch->percent ? "%" : ""));
  for (const FigureInfo* row : btf::figure_gates())
    if (const std::optional<double>& limit = gates.*row->limit)
      add(fmt::format("{} {} {}", row->name, row->at_least ? ">=" : "<=", number_text(*limit)));
  for (const QuantileGate& gate : gates.quantiles)
    add(fmt::format("quantile {} <= {}", number_text(gate.q), number_text(gate.most)));
  if (gates.top_k) add(fmt::format("top-k {}", *gates.top_k));
  if (criteria.dequantize) add("dequantize");
  if (!criteria.scale_blocks.empty()) add("block " + by_x(criteria.scale_blocks));
  if (criteria.codes) add("codes");
  const auto scale = [&](const char* side, const std::optional<GivenScale>& given) {
    if (!given) return;
    const bool several = given->scales.size() > 1;
    add(std::string(side) + " scale " +
        (several ? "of dim " + std::to_string(*given->axis) : number_text(given->scales.front())) +
        (several || given->zero_points.front() == 0
             ? ""
             : ", zero point " + std::to_string(given->zero_points.front())));
  };
  scale("actual", criteria.actual_scale);
  scale("golden", criteria.golden_scale);
  if (criteria.permute) {
    std::string order;
    for (const std::uint32_t dim : criteria.permute->order)
      order += (order.empty() ? "" : ",") + std::to_string(dim);
    add("permute " + order);
  }
  if (criteria.squeeze) add("squeeze");
  if (criteria.reshape_actual) add("reshape actual");
  if (criteria.strict) add("strict");
  if (!criteria.tolerance.equal_nan) add("NaN equals nothing");
  return text;
}

}  // namespace

std::string criteria_text(const ReportOptions& options, const std::vector<Tolerance>& close) {
  return all_criteria(options, close_text(close));
}

std::string common_criteria_text(const ReportOptions& options,
                                 const std::vector<Tolerance>& close) {
  return all_criteria(options, close.size() > 1 ? "by dtype" : close_text(close));
}

std::vector<std::string> detail_lines(const TensorDiff& diff, const ReportOptions& options,
                                      std::size_t columns) {
  std::vector<std::string> lines;
  if (diff.result != DiffResult::different) return lines;
  add_hints(diff, lines);
  add_failed(diff, lines);
  add_tolerance(diff, options.criteria.tolerance, lines);
  add_worst(diff, options.text.figures, lines);
  add_figures(diff, options, lines);
  const std::size_t indent = line({}, {}).size();
  const std::size_t room = columns > indent ? columns - indent : 0;
  for (const auto& [label, row] : error_histogram(diff, room)) lines.push_back(line(label, row));
  add_required(diff, options, lines);
  std::vector<std::string> fitting;
  for (const std::string& text : lines)
    for (std::string& piece : wrapped(text, columns, indent)) fitting.push_back(std::move(piece));
  constexpr std::string_view kTableIndent = "    ";
  for (const std::string& row :
       mismatch_table(diff, columns - kTableIndent.size(), options.text.figures))
    fitting.push_back(std::string(kTableIndent) + row);
  return fitting;
}

}  // namespace btf::report
