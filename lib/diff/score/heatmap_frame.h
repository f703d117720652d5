// Which dims a heat map shows, and in which steps.
#pragma once

#include <cstdint>
#include <span>

#include "btf/diff.h"

namespace btf {

// Without counts of mismatches yet. Axes that are not given, or that the tensor has not, are
// picked: those along which the sampled mismatches are spread least evenly, else the last two dims.
Heatmap heatmap_frame(const Dims& dims, const HeatmapRequest& request,
                      std::span<const std::uint64_t> sample);

// Would any sample give the same one?
bool needs_no_sample(const Dims& dims, const HeatmapRequest& request);

}  // namespace btf
