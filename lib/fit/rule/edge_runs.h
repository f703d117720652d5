// What a narrow device makes of results near an edge of a function: by a few nodes before them all
// roundings together, since 0 may come of several, and in so few numbers that no mean shows it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fit/measure/dump_measures.h"
#include "fit/measure/node_measure.h"
#include "fit/rule/edges.h"
#include "fit/rule/flow.h"
#include "fit/rule/narrow_part.h"

namespace btf {

// What roundings do to a node's results.
struct EdgeError {
  double nonfinite = 0;                     // results
  double error = 0;                         // of those that become others altogether: root mean
                                            // square over all results of the node
  std::uint32_t value = network::kNoValue;  // the input near whose edge they are
};

class EdgeRuns {
 public:
  // Is that more than the network bears?
  using Fails = std::function<bool(std::uint32_t node, const EdgeError& error)>;

  EdgeRuns(const NodeContext& context, const DumpMeasures& measures, const Flow& flow, Fails fails)
      : context_(context), measures_(measures), flow_(flow), fails_(std::move(fails)) {}

  struct Found {
    std::uint32_t node = network::kNoNode;  // which does not bear it: this one, or one behind
    EdgeError error{};
    std::vector<std::uint32_t> nodes{};  // that must be wide, so that it does
  };
  // The node's failures where those are wide that are.
  std::vector<Found> find(std::uint32_t node, std::vector<bool> wide);

 private:
  // A part of the network by which the results are computed anew.
  struct Run {
    NarrowPart part;
    std::vector<EdgeResult> results;
    std::vector<double> right;
  };

  const std::deque<Run>& runs_of(std::uint32_t node);
  bool add(std::deque<Run>& runs, NarrowPart part, std::vector<EdgeResult> results) const;
  void add_zero(std::deque<Run>& runs, const EdgeResult& result) const;
  bool comes_to_zero(std::uint32_t value) const;
  bool shows_errors(const NarrowPart& part) const;
  std::optional<EdgeError> error_of(const Run& run, std::uint32_t node,
                                    const std::vector<bool>& wide, double others) const;
  // Does the network bear what rounding does to these results, or to those behind them?
  struct Asked {
    const std::vector<bool>& wide;
    double others = 0;  // results that are off by less are not counted
    int depth = 0;      // nodes behind
    // It did not before these: little must be left of it here.
    bool failing = false;
  };
  bool is_borne(const Run& run, std::uint32_t node, const Asked& asked, Found* failing) const;
  bool is_little(std::uint32_t node, const EdgeError& error) const;
  std::optional<Run> run_behind(const Run& run, std::uint32_t result, std::uint32_t node) const;
  std::vector<std::uint32_t> widened(const Run& run, std::uint32_t node,
                                     std::vector<bool>& wide) const;

  NodeContext context_;
  const DumpMeasures& measures_;
  const Flow& flow_;
  Fails fails_;
  std::map<std::uint32_t, std::deque<Run>> runs_;  // by node
  mutable std::uint64_t terms_ = 1U << 26;         // that may be computed
};

}  // namespace btf
