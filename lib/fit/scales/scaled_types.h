// All tensors of the dumps, and the network's weights, in types of few codes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit/scales.h"
#include "fit/measure/dump.h"
#include "network/network.h"

namespace btf {

struct ScalesFound {
  std::vector<FitOfScales> types;
  std::vector<std::string> troubles;  // dumped tensors that cannot be read
  std::vector<std::string> warnings;  // weights that cannot
};

// `network`: nullptr, where there is none.
Result<ScalesFound> fit_scales(const network::Network* network, const std::vector<Dump>& dumps,
                               std::span<const DType> dtypes, const Execution& execution);

}  // namespace btf
