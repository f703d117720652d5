#include "fit/rule/ways.h"

#include <algorithm>
#include <set>

namespace btf {

std::optional<Ways> find_ways(const network::Network& network, const Flow& flow,
                              std::uint32_t value, std::uint32_t node, std::size_t most) {
  constexpr std::size_t kOthers = 4;  // nodes beside the ways, for each on them
  const auto& nodes = network.nodes();
  std::uint32_t first = node;
  for (const FlowReader& reader : flow.readers(value)) first = std::min(first, reader.node);
  // Backward from the result, through what may come behind the value.
  std::set<std::uint32_t> before{node};
  std::vector<std::uint32_t> open{node};
  while (!open.empty()) {
    const std::uint32_t one = open.back();
    open.pop_back();
    for (const std::uint32_t input : nodes[one].inputs) {
      if (input == network::kNoValue || input == value) continue;
      const std::uint32_t from = network.values()[input].node;
      if (from == network::kNoNode || from < first) continue;
      if (before.insert(from).second) open.push_back(from);
      if (before.size() > kOthers * most) return std::nullopt;
    }
  }
  // Those of them that the value reaches.
  std::set<std::uint32_t> reached{value};
  Ways ways;
  for (const std::uint32_t one : before) {
    const auto& inputs = nodes[one].inputs;
    if (std::ranges::none_of(inputs, [&](std::uint32_t input) { return reached.contains(input); }))
      continue;
    ways.nodes.push_back(one);
    if (std::ranges::find(inputs, value) != inputs.end()) ++ways.readers;
    reached.insert(nodes[one].outputs.begin(), nodes[one].outputs.end());
    reached.erase(network::kNoValue);
  }
  if (ways.nodes.empty() || ways.nodes.back() != node || ways.nodes.size() > most)
    return std::nullopt;
  return ways;
}

}  // namespace btf
