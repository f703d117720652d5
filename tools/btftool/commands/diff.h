// Reading the map of names of --map.
#pragma once

#include <optional>
#include <string>

#include "btf/layers.h"
#include "btf/pair_names.h"
#include "io/context.h"

namespace btftool {

// Logs a warning if the map is empty.
btf::Result<btf::NameMap> read_name_map(const Context& context, const std::string& path);

// Dumps of msprobe of which at least one has only statistics and no elements.
struct StatisticsPair {
  btf::StatisticsDump actual;
  btf::StatisticsDump golden;
};

// Returns std::nullopt unless one of the operands is such a dump. Fails if the other one is not a
// dump of msprobe.
btf::Result<std::optional<StatisticsPair>> read_statistics_pair(const std::string& actual_path,
                                                                const std::string& golden_path);

// Logs a warning for each line that pairs nothing. Fails if no line pairs anything.
btf::Status check_map_use(const Context& context, const std::string& path, const btf::MapUse& use);

}  // namespace btftool
