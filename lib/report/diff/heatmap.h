// Heat maps of mismatches: what text and HTML share, and the text itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/diff.h"
#include "btf/layout.h"

namespace btf::report {

// A cell has the first level whose bound is above its fraction of mismatches. All pictures have the
// same scale, so that they can be compared.
struct DensityLevel {
  double below = 0;
  std::string_view glyph;  // one column of a terminal
  std::string_view meaning;
  std::uint8_t color = 0;  // one of 256 terminal colours
};

// The first level is for cells without mismatches, the last for cells with only mismatches.
std::span<const DensityLevel> density_levels();
std::size_t density_level(std::uint64_t mismatched, std::uint64_t elements);

struct HeatCell {
  std::uint64_t mismatched = 0;
  std::uint64_t elements = 0;
};
HeatCell heat_cell(const Heatmap& map, std::uint64_t row, std::uint64_t column);

// "H" for rank 4, otherwise "dim 2". The title has both: "dim 2 (H)".
std::string axis_name(std::uint32_t dim, std::size_t rank);
std::string axis_title(std::uint32_t dim, std::size_t rank);

// Explains why other axes were chosen: "these dims were picked, as there is no dim 4 in rank 4".
// Returns an empty string if `trouble` is empty.
std::string picked_text(const std::string& trouble);

// The first and the last index that a cell covers. Without an axis there is one cell.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
IndexRange cell_range(const Heatmap::Axis& axis, const Dims& dims, std::uint64_t cell);
std::string range_text(IndexRange range);

// "H = 8-15, W = 3", or "all elements" if the map has no axes.
std::string cell_text(const Heatmap& map, const Dims& dims, std::uint64_t row,
                      std::uint64_t column);

// "a cell covers 10 x 4 indices, 480 elements; summed over dims 0 (N), 1 (C)"
std::string coverage_text(const Heatmap& map, const Dims& dims);

// Returns a title, the map with indices at its left and top, the worst cell and a legend. `picked`
// says why these are not the axes that were asked for, or is empty. Sentences are wrapped to
// `columns`; the map is as wide as it was made for. If `color` is set, 256 colours are used in
// addition to the block characters.
std::vector<std::string> heatmap_lines(const Heatmap& map, const Dims& dims,
                                       const std::string& picked, std::size_t columns, bool color);

}  // namespace btf::report
