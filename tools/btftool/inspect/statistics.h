// Percentiles, histogram and channels as JSON and as lines of text.
#pragma once

#include <string>
#include <vector>

#include "inspect/details.h"
#include "io/json.h"

namespace btftool {

void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details);

struct StatisticsLine {
  std::string label;  // empty: it belongs to the one before
  std::string text;
};

// Lines of at most `columns`, where that is not very little. `bars`: the histogram has a line for
// each bin, else it is one line.
std::vector<StatisticsLine> statistics_lines(btf::DType dtype, const InspectDetails& details,
                                             bool bars, std::size_t columns);

}  // namespace btftool
