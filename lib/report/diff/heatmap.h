// Heat maps: density levels and axis names, and the map in text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/layout.h"

namespace btf::report {

// Density levels and axis names, shared by the heat maps in text and HTML.

// A cell is of the first level whose bound its share of mismatches is below. The scale is the same
// in every picture, so that pictures compare.
struct DensityLevel {
  double below = 0;
  std::string_view glyph;  // one column of a terminal
  std::string_view meaning;
  std::uint8_t color = 0;  // of 256
};

// Row 0 is a cell without mismatches, the last one of mismatches only.
std::span<const DensityLevel> density_levels();
std::size_t density_level(std::uint64_t mismatched, std::uint64_t elements);

struct HeatCell {
  std::uint64_t mismatched = 0;
  std::uint64_t elements = 0;
};
HeatCell heat_cell(const Heatmap& map, std::uint64_t row, std::uint64_t column);

// "H" of rank 4, otherwise "dim 2"; and with both, "dim 2 (H)".
std::string axis_name(std::uint32_t dim, std::size_t rank);
std::string axis_title(std::uint32_t dim, std::size_t rank);

// "these dims were picked, as there is no dim 4 in rank 4"; empty if there is no trouble.
std::string picked_text(const std::string& trouble);

// The first and the last index that a cell covers. Without an axis there is one cell.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
IndexRange cell_range(const Heatmap::Axis& axis, const Dims& dims, std::uint64_t cell);
std::string range_text(IndexRange range);

// "H = 8-15, W = 3"; "all elements" of a map without axes.
std::string cell_text(const Heatmap& map, const Dims& dims, std::uint64_t row,
                      std::uint64_t column);

// "a cell covers 10 x 4 indices, 480 elements; summed over dims 0 (N), 1 (C)"
std::string coverage_text(const Heatmap& map, const Dims& dims);

// A heat map for the terminal: block characters, at most 80 columns of them.

// A title, the rows with the indices beside and above them, the worst cell and a legend. `picked`:
// why these are not the axes that were asked for, or empty. Sentences have `columns`, the map those
// that it was made for. `color`: colours of 256 may be used; what they say the characters say too.
std::vector<std::string> heatmap_lines(const Heatmap& map, const Dims& dims,
                                       const std::string& picked, std::size_t columns, bool color);

}  // namespace btf::report
