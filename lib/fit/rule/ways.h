// By which nodes a value comes to a result farther on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fit/rule/flow.h"
#include "network/network.h"

namespace btf {

struct Ways {
  std::vector<std::uint32_t> nodes;  // in the network's order; the last gives the result
  std::size_t readers = 0;           // of them: nodes that read the value itself
};

// Nothing: the value does not come there, or by more nodes than `most`.
std::optional<Ways> find_ways(const network::Network& network, const Flow& flow,
                              std::uint32_t value, std::uint32_t node, std::size_t most);

}  // namespace btf
