// A chart along the tensors of a comparison, or its layers: figures by their logarithm.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace btf::report {

struct ChartSeries {
  const char* name;  // class of its path
  std::function<double(std::size_t)> value;
};

// For each item a range from one figure to another.
struct ChartRange {
  const char* name;
  std::function<double(std::size_t)> low;
  std::function<double(std::size_t)> high;
};

// The same for all items.
struct ChartLevel {
  const char* name;
  double value = 0;
};

// Functions of an item's number. Figures that are not above 0 are drawn at the bottom.
struct Chart {
  std::size_t items = 0;
  double least = 0;  // of the figures that are drawn; most of 0: there is no chart
  double most = 0;
  std::string_view label;            // of the whole, for those who do not see it
  std::string_view legend;           // spans with the classes of series and marks
  std::vector<ChartSeries> bands{};  // from the bottom up to the figure
  std::vector<ChartSeries> lines{};
  std::vector<ChartRange> ranges{};
  std::vector<ChartLevel> levels{};        // those within the chart are drawn
  bool shares = true;                      // figures are parts of 1, and said in percent
  std::function<bool(std::size_t)> known;  // else a gap
  // More items than there is room for are folded, that of the highest rank is kept.
  std::function<double(std::size_t)> rank;
  bool low_marks = false;  // as a strip at the bottom, where there may be many
  std::function<const char*(std::size_t)> mark;   // class: "plain", "root", ...
  std::function<std::string(std::size_t)> title;  // HTML
};

std::string html_chart(const Chart& chart);

}  // namespace btf::report
