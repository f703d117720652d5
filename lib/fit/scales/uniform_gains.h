// How errors that are as large in every element, as those of integer codes are, come through
// operators of elements: found by adding such errors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/error.h"
#include "fit/measure/dump_measures.h"
#include "network/network.h"

namespace btf {

// By the effects of a node; nothing: its gain stays as it is.
using UniformGains = std::vector<std::optional<double>>;

// `relative`: the error of each value over its root mean square; 0: it has none. Of a node that is
// no operator of elements, or cannot be computed, all gains stay.
UniformGains uniform_gains(const NodeContext& context, const std::vector<double>& relative,
                           std::uint32_t node, const NodeMeasure& measure);

// The gains of all nodes.
Result<std::vector<UniformGains>> uniform_gains(const network::Network& network, const Dump& dump,
                                                const NarrowType& type,
                                                const std::vector<double>& relative,
                                                const DumpMeasures& measures,
                                                const Execution& execution);

}  // namespace btf
