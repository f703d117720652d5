// The network and the dumps that are judged, opened.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/fit.h"
#include "btf/tensor_set.h"
#include "fit/measure/dump.h"
#include "network/network.h"

namespace btf {

struct FitInputs {
  std::unique_ptr<const network::Network> network;  // nullptr: there is none
  std::vector<Dump> dumps;
  FitReport report;  // with what was seen of dumps so far
};

// An error: nothing can be measured.
Result<FitInputs> open_fit(std::span<TensorSet> sets, const FitOptions& options);

}  // namespace btf
