// Small drawings of a tensor's numbers, as SVG.
#pragma once

#include <string>

#include "btf/dtype.h"
#include "btf/inspect/channels.h"
#include "btf/inspect/distribution.h"

namespace btf::report {

std::string histogram_svg(const Histogram& histogram);

// A column for each channel, or for several that stand side by side: from the least to the greatest
// number, darker within a standard deviation of the mean; dead and saturated ones marked.
std::string channels_svg(const Channels& channels, DType dtype);

}  // namespace btf::report
