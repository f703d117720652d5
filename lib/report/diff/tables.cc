#include "report/diff/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "btf/value.h"
#include "report/diff/steps.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::size_t kMostDecades = 9;  // columns of the histogram
constexpr std::size_t kLeastDecades = 3;

// Height by the logarithm: the few large errors matter as much as the many small ones.
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

// The equal ones and the decades; what is too much goes into one column for the smallest.
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

// Labels, counts with bars, and the refused ones if not all were.
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

// Columns dropped for lack of room: codes first, then bytes, then steps.
constexpr std::size_t kSteps = 4;
constexpr auto kLeftOut = std::to_array<std::pair<std::size_t, std::size_t>>(
    {{kSteps + 1, kSteps + 3}, {kSteps + 3, kSteps + 5}, {kSteps, kSteps + 1}});

constexpr std::string_view kCellGap = "  ";

// The width of each column; 0 for dropped ones.
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

}  // namespace

std::vector<std::array<std::string, 2>> error_histogram(const TensorDiff& diff, std::size_t room) {
  if (diff.decades.empty()) return {};
  for (std::size_t most = kMostDecades;; --most) {
    auto rows = histogram_rows(histogram_columns(diff, most));
    if (most == kLeastDecades || columns_of(rows.front()[1]) <= room) return rows;
  }
}

std::vector<std::string> mismatch_table(const TensorDiff& diff, std::size_t room, bool all_steps) {
  if (diff.first.empty()) return {};
  const bool all = diff.first.size() == diff.mismatched;
  // A title is in the first column, alone in its line except for the header.
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

}  // namespace btf::report
