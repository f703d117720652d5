// Percentiles, histogram and channels as JSON and as lines of text.
#pragma once

#include <string>
#include <vector>

#include "inspect/details.h"
#include "io/json.h"

namespace btftool {

void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details,
                    const btf::DistributionOptions& options);

struct StatisticsLine {
  std::string label;  // empty: it belongs to the one before
  std::string text;
};

// Of at most so many columns, where they are not very few.
std::vector<StatisticsLine> statistics_lines(btf::DType dtype, const InspectDetails& details,
                                             const btf::DistributionOptions& options,
                                             std::size_t columns);

}  // namespace btftool
