// All values and nodes of a network, measured in one dump.
#pragma once

#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "fit/measure/dump.h"
#include "fit/measure/narrow_type.h"
#include "fit/measure/node_measure.h"
#include "network/network.h"

namespace btf {

// What was measured of one dump.
struct DumpMeasures {
  std::vector<ValueNoise> values;  // of the network
  std::vector<NodeMeasure> nodes;
};

// `known`: of another dump, whose weights are the same; nullptr: there is none yet.
Result<DumpMeasures> measure_dump(const network::Network& network, const Dump& dump,
                                  const NarrowType& type, const DumpMeasures* known,
                                  const Execution& execution);

// One tensor of a dump, without a network. Nothing: it holds no floats.
Result<std::optional<TensorMeasure>> measure_dumped(const Dump& dump, const DumpedTensor& tensor,
                                                    const NarrowType& type);

}  // namespace btf
