#include "report/text/columns.h"

#include <algorithm>

#include "report/text/text.h"

namespace btf::report {
namespace {

// With every cell as short as it may be.
std::size_t least_width(const Column& column) {
  return column.least == 0 ? column.width : std::min(column.width, column.least);
}

}  // namespace

void widen(std::span<Column> columns, std::span<const std::string> cells) {
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns[c].width = std::max(columns[c].width, columns_of(cells[c]));
}

void fit(std::span<Column> columns, std::size_t room) {
  for (Column& column : columns) column.shown = column.width > 0;
  for (;;) {
    std::size_t least = 0;
    Column* next = nullptr;
    for (Column& column : columns) {
      if (!column.shown) continue;
      least += least_width(column) + (least == 0 ? 0 : kColumnGap);
      if (column.rank > 0 && (next == nullptr || column.rank > next->rank)) next = &column;
    }
    if (least > room && next != nullptr) {
      next->shown = false;
      continue;
    }
    // What is left over goes to those that were shortened, in their order.
    std::size_t left = room > least ? room - least : 0;
    for (Column& column : columns) {
      if (!column.shown) continue;
      const std::size_t short_width = least_width(column);
      const std::size_t more = std::min(left, column.width - short_width);
      column.width = short_width + more;
      left -= more;
    }
    return;
  }
}

std::string row_text(std::span<const Column> columns, std::span<const std::string> cells) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    if (!column.shown) continue;
    const std::string cell = column.least > 0 ? without_middle(cells[c], column.width) : cells[c];
    line.append(line.empty() ? 0 : kColumnGap, ' ')
        .append(column.right ? fill_left(cell, column.width) : fill_right(cell, column.width));
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace btf::report
