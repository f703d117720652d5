// Parts of a network computed anew as a narrow device does. They begin where a function of elements
// ends: a divisor of 0, the logarithm of 0, the root of a negative number, the arc cosine of 1.
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

// Where a function of elements ends: a divisor of 0, the logarithm of 0, the root of a negative
// number, the arc cosine of 1. What rounding does beside such an end shows in few results only.

struct EdgeResult {
  std::uint32_t value = 0;   // the input whose number is near an edge
  std::uint64_t result = 0;  // number of an element
  double weight = 0;         // results that it stands for
};

// Some results of the node, of each distance from an edge a few. None: it has no edges, or its
// inputs are weights. `alike`: also of an input whose numbers are all about as large.
Result<std::vector<EdgeResult>> results_at_edges(const NodeContext& context, std::uint32_t node,
                                                 bool alike);

// A few nodes before a result, computed anew as a narrow device does: all roundings together.

class NarrowPart {
 public:
  // The node, and up to so many with it that its result is computed by way of: the nearest ones.
  // `terms`: how many may be computed by all parts together; it outlives them.
  NarrowPart(const NodeContext& context, const DumpMeasures& measures, std::uint32_t node,
             std::size_t most, std::uint64_t& terms);

  std::size_t size() const { return nodes_.size(); }
  bool has(const NarrowPart& other) const { return std::ranges::includes(nodes_, other.nodes_); }
  // The node itself and those before it, the nearest ones first; then those that make what is read
  // from before.
  const std::vector<std::uint32_t>& nearest() const { return nearest_; }

  // Values that are read from before: no weights.
  std::vector<std::uint32_t> read_values() const;

  // Takes all numbers of a value for 0.
  void read_as_zero(std::uint32_t value) { zero_ = value; }
  std::optional<std::uint32_t> zero() const { return zero_; }

  // Some of the node's first results, by all nodes as they are.
  std::optional<std::vector<double>> right(std::span<const std::uint64_t> results) const;
  // The same with all nodes narrow but those that are `wide`. Nothing, of both: something cannot be
  // computed, or takes too long.
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

// What all roundings of a node and the few before it do to the node's first result together. Each
// alone may be borne, as those of two large numbers whose difference is small; whether they cancel
// or add up shows only where all are done at once.

class JointRounding {
 public:
  JointRounding(const NodeContext& context, const DumpMeasures& measures)
      : context_(context), measures_(measures) {}

  // The error where all are narrow but those that are `wide`: root mean square over some results.
  // Unset if it cannot be computed, takes too long, or Inf or NaN comes of it.
  std::optional<double> error(std::uint32_t node, const std::vector<bool>& wide);
  // The nearest nodes, of those that may be chosen, that must be wide beside those that are, so
  // that the error is at most `most`. Empty if no choice of them does that.
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
  std::uint64_t terms_ = 1U << 25;                    // that may be computed
};

}  // namespace btf
