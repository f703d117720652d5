#include "fit/rule/flow.h"

#include <algorithm>

namespace btf {
namespace {

// Their subgraphs read values that are not among their inputs.
bool reads_unseen(const network::Node& node) {
  return node.op == "If" || node.op == "Loop" || node.op == "Scan";
}

}  // namespace

Flow::Flow(const network::Network& network)
    : readers_(network.values().size()),
      output_(network.values().size(), false),
      live_(network.nodes().size(), false) {
  const auto& nodes = network.nodes();
  for (std::uint32_t node = 0; node < nodes.size(); ++node)
    for (std::size_t i = 0; i < nodes[node].inputs.size(); ++i)
      if (nodes[node].inputs[i] != network::kNoValue)
        readers_[nodes[node].inputs[i]].push_back({node, i});
  for (const std::uint32_t value : network.outputs()) output_[value] = true;
  // What nobody is seen to read is read where that does not show, or nobody said what is an output.
  if (network.outputs().empty() || std::ranges::any_of(nodes, reads_unseen))
    for (std::uint32_t value = 0; value < output_.size(); ++value)
      if (readers_[value].empty() && network.values()[value].node != network::kNoNode)
        output_[value] = true;
  std::vector<bool> wanted = output_;
  for (std::size_t node = nodes.size(); node-- > 0;) {
    live_[node] = std::ranges::any_of(nodes[node].outputs, [&](std::uint32_t value) {
      return value != network::kNoValue && wanted[value];
    });
    if (!live_[node]) continue;
    for (const std::uint32_t value : nodes[node].inputs)
      if (value != network::kNoValue) wanted[value] = true;
  }
}

}  // namespace btf
