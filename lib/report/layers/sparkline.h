// A line of blocks along the layers, as high as the logarithm of their errors, with marks below.
#pragma once

#include <cstddef>
#include <string>

#include "btf/layers/layers.h"

namespace btf::report {

struct Sparkline {
  std::string blocks;  // with the least and the largest error at its ends
  std::string marks;   // ^ broke, d wrong dump, . not measured; empty: there are none
};

// At most this many columns. Empty if no layer has an error above 0.
Sparkline sparkline(const LayerReport& report, std::size_t columns);

}  // namespace btf::report
