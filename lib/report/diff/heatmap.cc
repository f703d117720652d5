#include "report/diff/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "report/text/text.h"

namespace btf::report {
namespace {

// The first and the last level are exact: 1 of 10^9 is not 0, and all but one are not all.
constexpr std::array<DensityLevel, 7> kLevels{{
    {0, " ", "none", 0},
    {0.001, "·", "<0.1%", 75},
    {0.01, ":", "<1%", 44},
    {0.1, "░", "<10%", 78},
    {0.5, "▒", "<50%", 178},
    {1, "▓", "<100%", 208},
    {std::numeric_limits<double>::infinity(), "█", "all", 196},
}};

constexpr std::string_view kRank4 = "NCHW";

std::uint64_t extent_of(const Dims& dims, std::uint32_t dim) {
  return dim < dims.size() ? dims[dim] : 1;
}

}  // namespace

std::span<const DensityLevel> density_levels() { return kLevels; }

std::size_t density_level(std::uint64_t mismatched, std::uint64_t elements) {
  if (mismatched == 0) return 0;
  if (mismatched >= elements) return kLevels.size() - 1;
  const double share = static_cast<double>(mismatched) / static_cast<double>(elements);
  std::size_t level = 1;
  while (level + 2 < kLevels.size() && share >= kLevels[level].below) ++level;
  return level;
}

HeatCell heat_cell(const Heatmap& map, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t cell = row * map.columns + column;
  if (cell >= map.mismatched.size() || cell >= map.elements.size()) return {};
  return {map.mismatched[cell], map.elements[cell]};
}

std::string axis_name(std::uint32_t dim, std::size_t rank) {
  if (rank == kRank4.size() && dim < rank) return std::string(1, kRank4[dim]);
  return fmt::format("dim {}", dim);
}

std::string axis_title(std::uint32_t dim, std::size_t rank) {
  const std::string number = fmt::format("dim {}", dim);
  const std::string name = axis_name(dim, rank);
  return name == number ? number : number + " (" + name + ")";
}

std::string picked_text(const std::string& trouble) {
  return trouble.empty() ? "" : "these dims were picked, as " + trouble;
}

IndexRange cell_range(const Heatmap::Axis& axis, const Dims& dims, std::uint64_t cell) {
  const std::uint64_t first = cell * axis.step;
  const std::uint64_t extent = extent_of(dims, axis.dim);
  const std::uint64_t rest = extent > first ? extent - first : 1;
  return {first, first + std::min(std::max<std::uint64_t>(axis.step, 1), rest) - 1};
}

std::string range_text(IndexRange range) {
  if (range.first == range.last) return std::to_string(range.first);
  return fmt::format("{}-{}", range.first, range.last);
}

std::string cell_text(const Heatmap& map, const Dims& dims, std::uint64_t row,
                      std::uint64_t column) {
  std::string text;
  const auto add = [&](const std::optional<Heatmap::Axis>& axis, std::uint64_t cell) {
    if (!axis) return;
    if (!text.empty()) text += ", ";
    text += axis_name(axis->dim, dims.size()) + " = " + range_text(cell_range(*axis, dims, cell));
  };
  add(map.down, row);
  add(map.across, column);
  return text.empty() ? "all elements" : text;
}

std::string coverage_text(const Heatmap& map, const Dims& dims) {
  std::string text = "a cell covers ";
  if (map.down && map.across)
    text += fmt::format("{} x {} indices", map.down->step, map.across->step);
  else if (map.across)
    text += map.across->step == 1 ? "1 index" : fmt::format("{} indices", map.across->step);
  else
    text += "everything";
  const auto largest = std::max_element(map.elements.begin(), map.elements.end());
  if (largest != map.elements.end()) text += ", " + counted(*largest, "element");

  std::vector<std::uint32_t> summed;
  for (std::uint32_t dim = 0; dim < dims.size(); ++dim)
    if (!(map.down && map.down->dim == dim) && !(map.across && map.across->dim == dim) &&
        dims[dim] > 1)
      summed.push_back(dim);
  if (summed.empty()) return text;
  if (summed.size() > 6) return text + fmt::format("; summed over {} other dims", summed.size());
  text += summed.size() == 1 ? "; summed over " : "; summed over dims ";
  for (std::size_t i = 0; i < summed.size(); ++i) {
    const std::string title = axis_title(summed[i], dims.size());
    if (i > 0) text += ", ";
    text += summed.size() == 1 ? title : title.substr(4);
  }
  return text;
}

namespace {

constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kBeside = 5;        // the indent, the frame and the space before it
constexpr std::uint64_t kMinCells = 8;    // even if the terminal is narrower
constexpr std::size_t kWideColumns = 32;  // up to this many, a cell is a square of two characters

std::string repeat(std::string_view glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

// Combines each `each` neighbouring cells of a row into one.
Heatmap folded(const Heatmap& map, std::uint64_t each) {
  Heatmap fewer = map;
  fewer.columns = (map.columns + each - 1) / each;
  if (fewer.across) fewer.across->step *= each;
  fewer.mismatched.assign(fewer.rows * fewer.columns, 0);
  fewer.elements = fewer.mismatched;
  for (std::uint64_t row = 0; row < map.rows; ++row)
    for (std::uint64_t column = 0; column < map.columns; ++column) {
      const HeatCell cell = heat_cell(map, row, column);
      fewer.mismatched[row * fewer.columns + column / each] += cell.mismatched;
      fewer.elements[row * fewer.columns + column / each] += cell.elements;
    }
  return fewer;
}

class Picture {
 public:
  Picture(const Heatmap& map, const Dims& dims, std::size_t columns, bool color)
      : map_(map), dims_(dims), columns_(columns), color_(color) {
    for (std::uint64_t row = 0; row < map.rows; ++row) {
      labels_.push_back(row_label(row));
      label_width_ = std::max(label_width_, labels_.back().size());
    }
    if (map.across)
      label_width_ = std::max(label_width_, axis_name(map.across->dim, dims.size()).size());
    const std::size_t beside = label_width_ + kBeside;
    const std::uint64_t room = columns > beside + kMinCells ? columns - beside : kMinCells;
    if (map.columns > room) map_ = folded(map, (map.columns + room - 1) / room);
    wide_ = map_.columns <= kWideColumns && 2 * map_.columns <= room ? 2 : 1;
  }

  std::vector<std::string> lines(const std::string& picked) {
    add_text(title());
    if (!picked.empty()) add_text(picked_text(picked));
    add_text(coverage_text(map_, dims_));
    ticks();
    for (std::uint64_t row = 0; row < map_.rows; ++row)
      add(pad_left(labels_[row], label_width_) + " │" + cells(row) + "│");
    add(std::string(label_width_ + 1, ' ') + "└" + repeat("─", width()) + "┘");
    add_text(worst());
    add_text(legend());
    return std::move(lines_);
  }

 private:
  void add(const std::string& line) { lines_.push_back("  " + line); }
  void add_text(const std::string& text) {
    for (std::string& line : wrapped("  " + text, columns_, 4)) lines_.push_back(std::move(line));
  }

  std::size_t width() const { return static_cast<std::size_t>(map_.columns) * wide_; }

  std::string title() const {
    const auto axis = [&](const Heatmap::Axis& a) {
      const std::uint64_t extent = a.dim < dims_.size() ? dims_[a.dim] : 1;
      return fmt::format("{} of {}", axis_title(a.dim, dims_.size()), extent);
    };
    std::string text = "mismatches";
    if (map_.down) text += ", " + axis(*map_.down) + " down";
    if (map_.across) text += ", " + axis(*map_.across) + " across";
    return text;
  }

  // The name of the axis precedes the first index.
  std::string row_label(std::uint64_t row) const {
    if (!map_.down) return "";
    const IndexRange range = cell_range(*map_.down, dims_, row);
    const std::string name = row == 0 ? axis_name(map_.down->dim, dims_.size()) + ": " : "";
    std::string text = name + range_text(range);
    if (text.size() > kLabelWidth) text = name + std::to_string(range.first);
    if (text.size() > kLabelWidth) text = std::to_string(range.first);
    if (text.size() > kLabelWidth) text = fmt::format("{:.5e}", static_cast<double>(range.first));
    return text;
  }

  // Prints the first indices of cells above the frame, as many as fit, and a mark for each.
  void ticks() {
    std::string names;
    std::vector<bool> marked(width(), false);
    if (map_.across) {
      const std::string last =
          std::to_string(cell_range(*map_.across, dims_, map_.columns - 1).first);
      std::uint64_t every = 1;
      while (every * wide_ < last.size() + 2) every *= 2;
      for (std::uint64_t cell = 0; cell < map_.columns; cell += every) {
        const std::string name = std::to_string(cell_range(*map_.across, dims_, cell).first);
        const std::size_t at = static_cast<std::size_t>(cell) * wide_;
        if (cell > 0 && at + name.size() > width()) break;
        names = pad_right(names, at);
        names += name;
        marked[at] = true;
      }
    }
    std::string frame;
    for (const bool mark : marked) frame += mark ? "┴" : "─";
    const std::size_t margin = label_width_ + 1;
    if (map_.across)
      add(pad_left(axis_name(map_.across->dim, dims_.size()) + ":", margin) + " " + names);
    add(std::string(margin, ' ') + "┌" + frame + "┐");
  }

  std::string cells(std::uint64_t row) const {
    std::string text;
    std::size_t before = 0;
    for (std::uint64_t column = 0; column < map_.columns; ++column) {
      const HeatCell cell = heat_cell(map_, row, column);
      const std::size_t level = density_level(cell.mismatched, cell.elements);
      if (level != before) text += paint(level);
      before = level;
      text += repeat(density_levels()[level].glyph, wide_);
    }
    return text + (before != 0 ? paint(0) : "");
  }

  std::string paint(std::size_t level) const {
    if (!color_) return "";
    if (level == 0) return "\x1b[0m";
    return fmt::format("\x1b[38;5;{}m", density_levels()[level].color);
  }

  std::string worst() const {
    HeatCell most;
    std::uint64_t at = 0;
    for (std::uint64_t row = 0; row < map_.rows; ++row)
      for (std::uint64_t column = 0; column < map_.columns; ++column) {
        const HeatCell cell = heat_cell(map_, row, column);
        const auto share = [](const HeatCell& c) {
          return c.elements == 0
                     ? 0.0
                     : static_cast<double>(c.mismatched) / static_cast<double>(c.elements);
        };
        if (share(cell) <= share(most)) continue;
        most = cell;
        at = row * map_.columns + column;
      }
    if (most.mismatched == 0) return "no mismatches";
    const std::string cell = cell_text(map_, dims_, at / map_.columns, at % map_.columns);
    return fmt::format("{}{}: {} of {} ({})", map_.down || map_.across ? "densest at " : "", cell,
                       most.mismatched, counted(most.elements, "element"),
                       percent(most.mismatched, most.elements));
  }

  std::string legend() const {
    std::string text = "blank none";
    for (std::size_t level = 1; level < density_levels().size(); ++level) {
      const DensityLevel& row = density_levels()[level];
      text +=
          "  " + paint(level) + std::string(row.glyph) + paint(0) + " " + std::string(row.meaning);
    }
    return text + " of the cell";
  }

  Heatmap map_;
  const Dims& dims_;
  std::size_t columns_;
  bool color_;
  std::size_t wide_ = 1;
  std::size_t label_width_ = 0;
  std::vector<std::string> labels_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> heatmap_lines(const Heatmap& map, const Dims& dims,
                                       const std::string& picked, std::size_t columns, bool color) {
  return Picture(map, dims, columns, color).lines(picked);
}

}  // namespace btf::report
