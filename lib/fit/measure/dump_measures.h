// All values and nodes of a network, measured in one dump.
#pragma once

#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "fit/measure/dump.h"
#include "fit/measure/narrow_type.h"
#include "fit/measure/node_measure.h"
#include "fit/measure/node_variants.h"
#include "network/network.h"

namespace btf {

// The measures of one dump.
struct DumpMeasures {
  std::vector<ValueNoise> values;  // of the network
  std::vector<NodeMeasure> nodes;
};

// The same by several processes, each some of the values and nodes.
struct DumpPieces {
  std::vector<ValueNoise> values;  // each by itself
  std::vector<NodeVariants> nodes;
};

// A value by itself: noise is that of its own numbers. One that cannot be used is one that is not
// there; one that cannot be read says so, and so does what needs it.
ValueNoise measure_value(const network::Network& network, const Dump& dump, const NarrowType& type,
                         std::uint32_t which, const Execution& execution);

// `known`: of another dump, whose weights are the same; nullptr: there is none yet.
Result<DumpMeasures> measure_dump(const network::Network& network, const Dump& dump,
                                  const NarrowType& type, const DumpMeasures* known,
                                  const Execution& execution);

// The same out of its pieces. Nodes behind numbers that become Inf are measured here.
DumpMeasures measures_of(const network::Network& network, const Dump& dump, const NarrowType& type,
                         const DumpPieces& pieces);

// One tensor of a dump, without a network. Nothing: it holds no floats.
Result<std::optional<TensorMeasure>> measure_dumped(const Dump& dump, const DumpedTensor& tensor,
                                                    const NarrowType& type);

}  // namespace btf
