// The columns of a table that has to fit a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace btf::report {

struct Column {
  std::size_t width = 0;  // of its widest cell; afterwards, of what is shown
  unsigned rank = 0;      // the column of the highest is left out first; 0: none of these
  std::size_t least = 0;  // its cells may be shortened to this; 0: they may not
  bool right = false;     // aligned so
  bool shown = true;
};

inline constexpr std::size_t kColumnGap = 2;

// Makes each as wide as its cell, if it is not.
void widen(std::span<Column> columns, std::span<const std::string> cells);

// Leaves columns out, and shortens what may be, until the others fit `room`. Without the ranked
// columns it may still not fit. Columns of no width are left out.
void fit(std::span<Column> columns, std::size_t room);

// A line of the table, as far as its columns are shown. What may be shortened loses its middle.
std::string row_text(std::span<const Column> columns, std::span<const std::string> cells);

// Names in a column of this width: those that are too long are shortened, by what they have in
// common, so that names that differ still do.
std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t width);

}  // namespace btf::report
