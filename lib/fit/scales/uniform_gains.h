// How errors that are as large in every element, as those of integer codes are, come through
// operators of elements: found by adding such errors.
#pragma once

#include <vector>

#include "btf/error.h"
#include "fit/measure/dump_measures.h"
#include "network/network.h"

namespace btf {

// Puts these gains into the measures. `relative`: the error of each value over its root mean
// square; where it is 0 gains stay as they are.
Status take_uniform_gains(const network::Network& network, const Dump& dump,
                          const std::vector<double>& relative, const Execution& execution,
                          DumpMeasures& measures);

}  // namespace btf
