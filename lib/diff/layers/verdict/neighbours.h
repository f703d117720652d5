// Producers and consumers of a layer, among the layers that can be judged.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

class Neighbours {
 public:
  explicit Neighbours(const LayerReport& report);

  // With a graph, the layer's; else nothing, for all that is before it counts.
  bool by_graph() const { return by_graph_; }
  const std::vector<std::uint64_t>& consumers(std::uint64_t layer) const {
    return consumers_[layer];
  }
  // How many of the layers that are computed from it fulfil `counts`.
  template <typename Counts>
  std::uint64_t reached(std::uint64_t layer, Counts&& counts) const {
    std::vector<bool> seen(consumers_.size(), false);
    std::vector<std::uint64_t> open = consumers_[layer];
    std::uint64_t found = 0;
    while (!open.empty()) {
      const std::uint64_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      found += counts(at) ? 1U : 0U;
      open.insert(open.end(), consumers_[at].begin(), consumers_[at].end());
    }
    return found;
  }

 private:
  bool by_graph_;
  std::vector<std::vector<std::uint64_t>> consumers_;
};

// Is it there before the run: a weight? No layer computes it.
bool is_weight(const Layer& layer);
// Or does it come from outside of what the dumps are of? By order alone neither is a consumer of the
// layer in front of it.
bool is_given(const Layer& layer);

// Is its error a figure: of numbers, and with a signal in golden?
bool can_measure(const Layer& layer);

// And has the order a place for it?
bool can_judge(const Layer& layer);

// Was it found out whether its numbers follow from its own inputs?
bool is_recomputed(const Layer& layer);
// Does it add more by itself than is allowed?
bool adds_too_much(const Layer& layer, const JudgeLayers& options);
// Is what it found no fault: rounding, of whatever size?
bool is_arithmetic(SpotState state);

// Was something said of it, and nothing bad?
bool was_judged(const Layer& layer);

}  // namespace btf
