// Parts of a network computed again as a narrow device does, with all roundings together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "btf/error.h"
#include "fit/dump_measures.h"
#include "fit/node_measure.h"

namespace btf {

// A result near the edge of a function's domain: a divisor of 0, the logarithm of 0, the root of a
// negative number, the arc cosine of 1. What rounding does near an edge shows in few results only.
struct EdgeResult {
  std::uint32_t value = 0;   // the input whose number is near an edge
  std::uint64_t result = 0;  // index of an element of the result
  double weight = 0;         // number of results that it represents
};

// Some results of the node, a few for each distance from an edge. Empty if it has no edges, or its
// inputs are weights. `alike`: also for an input whose numbers have all about the same magnitude.
Result<std::vector<EdgeResult>> results_at_edges(const NodeContext& context, std::uint32_t node,
                                                 bool alike);

// A node and a few nodes before it, computed as a narrow device does.
class NarrowPart {
 public:
  // Up to `most` nodes: `node`, and the nearest of those that its result depends on. `terms`: how
  // many may be computed by all parts together; it must outlive them.
  NarrowPart(const NodeContext& context, const DumpMeasures& measures, std::uint32_t node,
             std::size_t most, std::uint64_t& terms);

  std::size_t size() const { return nodes_.size(); }
  bool has(const NarrowPart& other) const { return std::ranges::includes(nodes_, other.nodes_); }
  // The node itself and those before it, the nearest first; then the nodes whose results the part
  // reads.
  const std::vector<std::uint32_t>& nearest() const { return nearest_; }

  // Values that the part reads from earlier nodes or inputs, without weights.
  std::vector<std::uint32_t> read_values() const;

  // Treats all numbers of a value as 0.
  void read_as_zero(std::uint32_t value) { zero_ = value; }
  std::optional<std::uint32_t> zero() const { return zero_; }

  // Elements of the node's first result, computed without rounding, and with all nodes narrow
  // except those in `wide`. Unset if something cannot be computed or takes too long.
  std::optional<std::vector<double>> right(std::span<const std::uint64_t> results) const;
  std::optional<std::vector<double>> narrow(std::span<const std::uint64_t> results,
                                            const std::vector<bool>& wide) const;

 private:
  class Computing;

  void find_nodes(std::uint32_t node, std::size_t most);
  bool can_be_within(std::uint32_t maker) const;
  bool is_constant(std::uint32_t node) const;
  bool is_rounded(std::uint32_t node, std::uint32_t value, const std::vector<bool>& wide) const;

  NodeContext context_;
  const DumpMeasures& measures_;
  std::uint64_t* terms_;
  std::vector<std::uint32_t> nodes_;  // in the network's order; the last gives the result
  std::vector<std::uint32_t> nearest_;
  std::optional<std::uint32_t> zero_;
};

// Makes nodes wide, the nearest of the part first, until tolerated() holds; then makes those narrow
// again that it does not need. Returns the nodes added to `wide`. If it never holds, `wide` stays
// as it was and the result is empty.
std::vector<std::uint32_t> widen_nearest(const NarrowPart& part, std::vector<bool>& wide,
                                         const std::function<bool(std::uint32_t)>& is_candidate,
                                         const std::function<bool()>& tolerated);

// What all roundings of a node and the few before it do together to the node's first result. Each
// alone may be tolerable, as those of two large numbers with a small difference are; whether they
// cancel or add up shows only if all are done at once.
class JointRounding {
 public:
  JointRounding(const NodeContext& context, const DumpMeasures& measures)
      : context_(context), measures_(measures) {}

  // The error with all nodes narrow except those in `wide`: root mean square over some results.
  // Unset if it cannot be computed, takes too long, or becomes Inf or NaN.
  std::optional<double> error(std::uint32_t node, const std::vector<bool>& wide);
  // The nearest candidates that must be wide in addition so that the error is at most `most`. Empty
  // if no choice of them achieves that.
  std::vector<std::uint32_t> widened(std::uint32_t node, std::vector<bool> wide, double most,
                                     const std::function<bool(std::uint32_t)>& is_candidate);

 private:
  struct Run {
    NarrowPart part;
    std::vector<std::uint64_t> results;
    std::vector<double> right;
  };

  const std::optional<Run>& run_of(std::uint32_t node);
  std::optional<Run> make_run(std::uint32_t node, std::size_t nodes);

  NodeContext context_;
  const DumpMeasures& measures_;
  std::map<std::uint32_t, std::optional<Run>> runs_;  // by node
  std::uint64_t terms_ = 1U << 25;                    // that may still be computed
};

}  // namespace btf
