// Dumps of statistics: the largest, the smallest, the mean and the norm of each tensor, as msprobe's
// dump.json has them, without elements. What can be said of them is the least that an error can be,
// and never that there is none (docs/layers.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layers/layers.h"
#include "btf/layout.h"

namespace btf {

struct TensorStatistics {
  std::string name{};
  std::optional<DType> dtype{};
  Dims dims{};
  // Nothing: not said.
  std::optional<double> max{};
  std::optional<double> min{};
  std::optional<double> mean{};
  std::optional<double> norm{};
  std::string checksum{};  // of its bits
  std::string role{};      // "weight", "outside" or nothing
};

struct StatisticsDump {
  std::string path{};                       // of the file
  bool has_elements = false;                // files with elements lie beside it
  std::vector<TensorStatistics> tensors{};  // in the order of execution
  std::vector<std::string> warnings{};
};

// The dump.json at `path`, or in the directory there. Nothing: there is none.
BTF_API Result<std::optional<StatisticsDump>> read_statistics(const std::string& path);

// Does anything that both say differ? Checksums of one dtype count before all else.
BTF_API bool statistics_differ(const TensorStatistics& actual, const TensorStatistics& golden);

// Pairs, order, the least errors, verdict. Options on elements are not for it.
BTF_API Result<LayerReport> compare_statistics(const StatisticsDump& actual,
                                               const StatisticsDump& golden,
                                               const LayerOptions& options);

}  // namespace btf
