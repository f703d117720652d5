// The fit of one type, over all dumps.
#pragma once

#include <cstddef>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit.h"
#include "fit/items/item_pieces.h"
#include "fit/measure/dump.h"
#include "fit/measure/narrow_type.h"
#include "network/network.h"

namespace btf {

// Measures of a type by several processes. Nothing: all is measured here.
struct KnownOfType {
  const ItemPieces* pieces = nullptr;
  std::size_t type = 0;  // of the plan
};

// Without a network: tensors of the same name in several dumps are one. What cannot be read is put
// into the report.
Result<FitOfType> measure_alone(const std::vector<Dump>& dumps, const NarrowType& type,
                                const KnownOfType& known, const Execution& execution,
                                FitReport& report);

Result<FitOfType> judge_all(const network::Network& network, const std::vector<Dump>& dumps,
                            const NarrowType& type, const KnownOfType& known,
                            const Execution& execution);

}  // namespace btf
