#include "report/diff/heatmap_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "report/text/text.h"

namespace btf::report {
namespace {

// 1 of 10^9 is not 0, and all but one are not all: the first and the last level are exact.
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

}  // namespace btf::report
