// Who reads a value, and what of a network matters to its outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "network/network.h"

namespace btf {

struct FlowReader {
  std::uint32_t node = 0;
  std::size_t input = 0;  // which of its inputs
};

class Flow {
 public:
  explicit Flow(const network::Network& network);

  const std::vector<FlowReader>& readers(std::uint32_t value) const { return readers_[value]; }
  bool is_output(std::uint32_t value) const { return output_[value]; }
  // Does an output of the network depend on the node?
  bool is_live(std::uint32_t node) const { return live_[node]; }

 private:
  std::vector<std::vector<FlowReader>> readers_;  // of values
  std::vector<bool> output_;                      // of values
  std::vector<bool> live_;                        // of nodes
};

}  // namespace btf
