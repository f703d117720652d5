// Dumps that are judged, and how, out of what Python gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/fit.h"
#include "btf/tensor_set.h"

namespace btf::python {

FitOptions fit_options(const std::vector<std::string>& dtypes,
                       const std::optional<std::string>& graph);
// The report, and when the newest of the dumps was changed, as PageOrigin has it.
struct FitRun {
  FitReport report;
  std::optional<std::int64_t> newest_input{};
};
std::optional<std::int64_t> newest_input(const std::vector<TensorSet>& dumps);

Result<std::vector<TensorSet>> open_dumps(const std::vector<std::string>& paths);

}  // namespace btf::python
