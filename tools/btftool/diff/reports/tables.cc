#include "diff/reports/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "btf/value.h"
#include "io/text.h"

namespace btftool {
namespace {

using btf::DecadeCount;
using btf::Mismatch;
using btf::TensorDiff;

constexpr std::size_t kColumns = 9;  // of the histogram, at most

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
std::vector<Column> columns_of(const TensorDiff& diff) {
  std::vector<Column> columns{{"equal", diff.equal, 0}};
  const std::size_t room = kColumns - 1;
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

using Cells = std::array<std::string, 9>;

Cells cells_of(const Mismatch& mismatch, const TensorDiff& diff) {
  return {btf::dims_text(mismatch.index),
          btf::value_text(diff.actual->dtype, mismatch.actual_code),
          btf::value_text(diff.golden->dtype, mismatch.golden_code),
          fmt::format("{:.6g}", mismatch.abs_error),
          mismatch.steps ? std::to_string(*mismatch.steps) : "-",
          btf::code_text(diff.actual->dtype, mismatch.actual_code),
          btf::code_text(diff.golden->dtype, mismatch.golden_code),
          offset_cell(mismatch.actual_offset),
          offset_cell(mismatch.golden_offset)};
}

}  // namespace

std::vector<std::array<std::string, 2>> error_histogram(const TensorDiff& diff) {
  if (diff.decades.empty()) return {};
  const std::vector<Column> columns = columns_of(diff);
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

std::vector<std::string> mismatch_table(const TensorDiff& diff) {
  if (diff.first.empty()) return {};
  const bool all = diff.first.size() == diff.mismatched;
  // A title stands in the first column, alone in its line but for the header.
  const std::string title = all ? fmt::format("all {} mismatches", diff.mismatched)
                                : fmt::format("first {} of {}", diff.first.size(), diff.mismatched);
  std::vector<Cells> lines{{diff.mismatched == 1 ? "the mismatch" : title, "actual", "golden",
                            "error", "steps", "actual code", "golden code", "actual byte",
                            "golden byte"}};
  for (const Mismatch& mismatch : diff.first) lines.push_back(cells_of(mismatch, diff));
  std::vector<Cells> largest;
  for (const Mismatch& mismatch : diff.largest)
    if (std::ranges::find(diff.first, mismatch.index, &Mismatch::index) == diff.first.end())
      largest.push_back(cells_of(mismatch, diff));
  if (!all && !largest.empty()) {
    lines.push_back({largest.size() < diff.largest.size() ? "other largest" : "largest"});
    lines.insert(lines.end(), largest.begin(), largest.end());
  }
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::vector<std::string> rows;
  for (const Cells& line : lines) {
    std::string row = pad_right(line[0], widths[0]);
    for (std::size_t c = 1; c < line.size(); ++c) row += "  " + pad_left(line[c], widths[c]);
    rows.push_back(row.substr(0, row.find_last_not_of(' ') + 1));
  }
  return rows;
}

}  // namespace btftool
