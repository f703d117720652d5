// Results near an edge of a function's domain are computed with all roundings of a few nodes before
// them: several roundings together may give 0, in so few numbers that no mean shows it.
#include "fit/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fit/dump_measures.h"
#include "fit/narrow_part.h"
#include "fit/node_measure.h"
#include "fit/sensitivity.h"

namespace btf {
namespace {

// What roundings do to a node's results.
struct EdgeError {
  double nonfinite = 0;  // results that become Inf or NaN
  // Error of the results that become other numbers altogether: root mean square over all results.
  double error = 0;
  std::uint32_t value = network::kNoValue;  // the input near whose edge they are
};

class EdgeRuns {
 public:
  // Returns true if the network does not tolerate the error.
  using Fails = std::function<bool(std::uint32_t node, const EdgeError& error)>;

  EdgeRuns(const NodeContext& context, const DumpMeasures& measures, const Flow& flow, Fails fails)
      : context_(context), measures_(measures), flow_(flow), fails_(std::move(fails)) {}

  struct Failure {
    std::uint32_t node = network::kNoNode;  // that does not tolerate it: this node or a later one
    EdgeError error{};
    std::vector<std::uint32_t> nodes{};  // that must be wide to prevent it
  };
  // The failures of a node's results that remain with the nodes in `wide`.
  std::vector<Failure> find(std::uint32_t node, std::vector<bool> wide);

 private:
  // A part of the network, and results that are computed by it.
  struct Run {
    NarrowPart part;
    std::vector<EdgeResult> results;
    std::vector<double> right;  // computed without rounding
  };

  const std::deque<Run>& runs_of(std::uint32_t node);
  bool add(std::deque<Run>& runs, NarrowPart part, std::vector<EdgeResult> results) const;
  void add_zero(std::deque<Run>& runs, const EdgeResult& result) const;
  bool comes_to_zero(std::uint32_t value) const;
  bool shows_errors(const NarrowPart& part) const;
  std::optional<EdgeError> error_of(const Run& run, std::uint32_t node,
                                    const std::vector<bool>& wide, double min_error) const;
  struct Query {
    const std::vector<bool>& wide;
    double min_error = 0;  // smaller relative errors of a result are not counted
    int depth = 0;         // nodes that are followed
    bool failing = false;  // the node before does not tolerate it, so little must be left here
  };
  // Returns true if the network tolerates what rounding does to these results, or to the results of
  // later nodes that read them. Otherwise describes the failure in `failure`, if not nullptr.
  bool is_tolerated(const Run& run, std::uint32_t node, const Query& query, Failure* failure) const;
  bool is_little(std::uint32_t node, const EdgeError& error) const;
  std::optional<Run> run_after(const Run& run, std::uint32_t result, std::uint32_t node) const;
  std::vector<std::uint32_t> widened(const Run& run, std::uint32_t node,
                                     std::vector<bool>& wide) const;

  NodeContext context_;
  const DumpMeasures& measures_;
  const Flow& flow_;
  Fails fails_;
  std::map<std::uint32_t, std::deque<Run>> runs_;  // by node
  mutable std::uint64_t terms_ = 1U << 26;         // that may still be computed
};

using network::ErrorPropagation;
using network::kNoNode;
using network::kNoValue;

// Numbers of nodes in a run. Short runs come first: an error from far away may move a number off
// the edge by chance.
constexpr std::array<std::size_t, 3> kNodes{4, 8, 12};

// A result with a larger relative error than these, the smaller of a fraction and a number of u, is
// taken for another number instead of a rounded one. When nodes are widened, fewer u count.
constexpr double kOtherNumber = 0.25;
constexpr double kManySteps = 64;
constexpr double kFewSteps = 16;
constexpr int kNodesAfter = 3;         // nodes after a result whose results are computed as well
constexpr std::size_t kMoreNodes = 4;  // a later node's part has twice as many nodes, and these

std::vector<std::uint64_t> numbers_of(std::span<const EdgeResult> results) {
  std::vector<std::uint64_t> numbers;
  for (const EdgeResult& one : results) numbers.push_back(one.result);
  return numbers;
}

std::vector<EdgeRuns::Failure> EdgeRuns::find(std::uint32_t node, std::vector<bool> wide) {
  const double min_error = std::min(kOtherNumber, kManySteps * context_.type.unit_roundoff());
  std::vector<Failure> all;
  for (const Run& run : runs_of(node)) {
    const std::optional<EdgeError> error = error_of(run, node, wide, min_error);
    if (!error || (error->nonfinite == 0 && error->error == 0)) continue;
    Failure failure;
    if (is_tolerated(run, node, {wide, min_error, kNodesAfter}, &failure)) continue;
    failure.nodes = widened(run, node, wide);
    if (!failure.nodes.empty()) all.push_back(std::move(failure));
  }
  return all;
}

const std::deque<EdgeRuns::Run>& EdgeRuns::runs_of(std::uint32_t node) {
  const auto [at, added] = runs_.try_emplace(node);
  std::deque<Run>& runs = at->second;
  if (!added) return runs;
  const NarrowPart longest(context_, measures_, node, kNodes.back(), terms_);
  if (longest.size() == 1) return runs;
  const auto results = results_at_edges(context_, node, shows_errors(longest));
  if (!results || results->empty()) return runs;
  for (const std::size_t nodes : kNodes) {
    NarrowPart part(context_, measures_, node, nodes, terms_);
    if (!runs.empty() && runs.back().part.size() == part.size()) break;
    if (!add(runs, std::move(part), *results)) break;
  }
  add_zero(runs, results->front());
  return runs;
}

// Returns true if numbers vanish or errors grow within the part.
bool EdgeRuns::shows_errors(const NarrowPart& part) const {
  const double amplified = 2 * context_.type.unit_roundoff();
  return std::ranges::any_of(part.nearest(), [&](std::uint32_t node) {
    const NodeMeasure& measure = measures_.nodes[node];
    return std::ranges::any_of(measure.inputs, [&](const InputEffect& effect) {
      const std::uint32_t input = context_.network.nodes()[node].inputs[effect.input];
      return effect.nonfinite > 0 || effect.zeroed > 0 || effect.error > amplified * measure.rms ||
             context_.values[input].measure.lost > 0;
    });
  });
}

bool EdgeRuns::add(std::deque<Run>& runs, NarrowPart part, std::vector<EdgeResult> results) const {
  auto right = part.right(numbers_of(results));
  if (!right) return false;
  runs.push_back({std::move(part), std::move(results), *std::move(right)});
  return true;
}

// Adds a run in which the only value that the part reads is all 0: a value with numbers of both
// signs may be 0 with other inputs, and a result then 0 / 0. That run comes first, since the nodes
// that it makes wide do not depend on chance.
void EdgeRuns::add_zero(std::deque<Run>& runs, const EdgeResult& result) const {
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 2); ++i) {
    NarrowPart part = runs[i].part;
    const bool by_places =
        std::ranges::all_of(std::span(part.nearest()).first(part.size()), [&](std::uint32_t node) {
          const ErrorPropagation passing = measures_.nodes[node].passing;
          return passing == ErrorPropagation::places || passing == ErrorPropagation::moved;
        });
    if (!by_places) return;
    const std::vector<std::uint32_t> read = part.read_values();
    if (read.size() != 1 || !comes_to_zero(read[0])) continue;
    part.read_as_zero(read[0]);
    if (!add(runs, std::move(part),
             {{.value = result.value, .result = result.result, .weight = 1}}))
      return;
    runs.push_front(std::move(runs.back()));
    runs.pop_back();
    return;
  }
}

bool EdgeRuns::comes_to_zero(std::uint32_t value) const {
  constexpr double kNear = 0x1p-6;
  constexpr std::uint64_t kMax = 1U << 16;
  const TensorMeasure& measure = context_.values[value].measure;
  if (measure.smallest > kNear * measure.rms()) return false;
  auto numbers = open_numbers(context_.network, context_.dump, value);
  if (!numbers || !*numbers) return false;
  std::vector<double> some(std::min(kMax, (*numbers)->elements()));
  if (!(*numbers)->read(0, some)) return false;
  return std::ranges::any_of(some, [](double x) { return x < 0; }) &&
         std::ranges::any_of(some, [](double x) { return x > 0; });
}

std::optional<EdgeError> EdgeRuns::error_of(const Run& run, std::uint32_t node,
                                            const std::vector<bool>& wide, double min_error) const {
  const auto off = run.part.narrow(numbers_of(run.results), wide);
  if (!off) return std::nullopt;
  EdgeError found;
  double squares = 0;
  const double least = context_.type.unit_roundoff() * measures_.nodes[node].rms;
  for (std::size_t i = 0; i < off->size(); ++i) {
    const double right = run.right[i];
    const EdgeResult& one = run.results[i];
    if (!(std::abs(right) <= context_.type.limit())) continue;  // overflows are judged elsewhere
    if (!std::isfinite((*off)[i])) {
      if (found.nonfinite == 0) found.value = one.value;
      found.nonfinite += one.weight;
      continue;
    }
    const double error = (*off)[i] - right;
    if (std::abs(error) <= std::max(min_error * std::abs(right), least)) continue;
    squares += one.weight * error * error;
    if (found.value == kNoValue) found.value = one.value;
  }
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  const auto results = static_cast<double>(context_.values[output].measure.elements);
  found.error = results > 0 ? std::sqrt(squares / results) : 0;
  return found;
}

// Later nodes may remove the error, by a limit, by selecting another number or by a small factor.
// And an error that is small next to the node's other results may be large in a later node's.
bool EdgeRuns::is_tolerated(const Run& run, std::uint32_t node, const Query& query,
                            Failure* failure) const {
  const auto error = error_of(run, node, query.wide, query.min_error);
  const bool tolerated = error && (query.failing ? is_little(node, *error) : !fails_(node, *error));
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  const auto verdict = [&] {
    if (!tolerated && failure != nullptr && error) {
      failure->node = node;
      failure->error = *error;
    }
    return tolerated;
  };
  if (query.depth == 0 || flow_.is_output(output)) return verdict();
  return std::ranges::all_of(flow_.readers(output), [&](const FlowReader& reader) {
    if (!flow_.is_live(reader.node)) return true;
    const std::optional<Run> next = run_after(run, output, reader.node);
    if (!next) return verdict();
    return is_tolerated(*next, reader.node,
                        {query.wide, query.min_error, query.depth - 1, !tolerated}, failure);
  });
}

bool EdgeRuns::is_little(std::uint32_t node, const EdgeError& error) const {
  const double tolerance = kFitTolerance * context_.type.unit_roundoff();
  return error.nonfinite == 0 && error.error <= tolerance * measures_.nodes[node].rms;
}

// A run with a later node that reads the results element by element; unset if it works otherwise.
std::optional<EdgeRuns::Run> EdgeRuns::run_after(const Run& run, std::uint32_t result,
                                                 std::uint32_t node) const {
  const NodeMeasure& measure = measures_.nodes[node];
  if (!measure.trouble.empty() || measure.passing != ErrorPropagation::places) return std::nullopt;
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  if (context_.values[output].measure.elements != context_.values[result].measure.elements)
    return std::nullopt;
  NarrowPart part(context_, measures_, node, 2 * run.part.size() + kMoreNodes, terms_);
  if (!part.has(run.part)) return std::nullopt;
  if (run.part.zero()) part.read_as_zero(*run.part.zero());
  auto right = part.right(numbers_of(run.results));
  if (!right) return std::nullopt;
  return Run{std::move(part), run.results, *std::move(right)};
}

std::vector<std::uint32_t> EdgeRuns::widened(const Run& run, std::uint32_t node,
                                             std::vector<bool>& wide) const {
  const double min_error = std::min(kOtherNumber, kFewSteps * context_.type.unit_roundoff());
  return widen_nearest(
      run.part, wide,
      [&](std::uint32_t one) { return is_fit_layer(context_.network, measures_, one); },
      [&] { return is_tolerated(run, node, {wide, min_error, kNodesAfter}, nullptr); });
}

// Fractions of an output's error by ordinary rounding.
constexpr double kToleratedShare = 0.25;  // of an error that is tolerable where it arises
constexpr double kMinShare = 0.02;        // less does not matter, however large it is there
constexpr double kWholeShare = 1;         // of roundings that are tolerable each, added up
constexpr double kJointShare = 0.5;       // of such roundings, computed all at once

// Fraction of the error that a result inherits below which an additional error does not matter.
constexpr double kInheritedFraction = 1.0 / 3;

constexpr int kMaxLooks = 4096;  // values that are examined to follow one error

class Judge {
 public:
  Judge(const network::Network& network, const Flow& flow, const Dump& dump,
        const DumpMeasures& measures, const NarrowType& type)
      : network_(network),
        flow_(flow),
        measures_(measures),
        type_(type),
        tolerance_(kFitTolerance * type.unit_roundoff()),
        negligible_(kFitNegligible * type.unit_roundoff()),
        absorbed_(network.values().size()),
        recompute_(network, flow, dump, measures, type),
        edges_({network, dump, type, measures.values}, measures, flow,
               [this](std::uint32_t node, const EdgeError& error) { return fails(node, error); }),
        joint_({network, dump, type, measures.values}, measures) {}

  // Keeping some layers wide can make others matter, so this iterates.
  std::map<std::uint32_t, std::vector<NodeFinding>> run() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t known = findings_.size();
      sensitivity_.emplace(network_, flow_, measures_, type_, wide());
      judge_all();
      if (findings_.size() > known) continue;
      // Single roundings give nothing more: add what several do together.
      if (!adding_up_) {
        adding_up_ = true;
        continue;
      }
      for (std::uint32_t node = 0; node < network_.nodes().size(); ++node)
        if (flow_.is_live(node) && is_fit_layer(network_, measures_, node)) at_edges(node);
      if (findings_.size() == known) break;
    }
    return std::move(findings_);
  }

 private:
  struct Walk {
    double allowed = 0;      // error of the value
    double at_node = 0;      // error of the result of the node for whose sake it is
    bool nonfinite = false;  // it is zeros and Infs that are not tolerated
    int depth = 0;           // nodes between the two
  };

  struct VisitedNode {
    double allowed = HUGE_VAL;  // the smallest so far
    bool nonfinite = false;
  };

  std::vector<bool> wide() const {
    std::vector<bool> wide(network_.nodes().size(), false);
    for (const auto& [node, found] : findings_) wide[node] = true;
    return wide;
  }

  void judge_all() {
    std::ranges::fill(absorbed_, std::nullopt);
    visited_.clear();
    // From the last node backwards, so that each finds the answers of later nodes.
    for (std::size_t node = network_.nodes().size(); node-- > 0;)
      for (const std::uint32_t output : network_.nodes()[node].outputs)
        if (output != kNoValue && may_be_infinite(output)) absorbed(output);
    for (std::uint32_t node = 0; node < network_.nodes().size(); ++node) {
      if (!flow_.is_live(node) || !network_.is_sound(node) ||
          !is_fit_layer(network_, measures_, node))
        continue;
      overflows(node);
      inside(node);
      inputs(node);
      if (adding_up_) jointly(node);
      outputs(node);
    }
  }

  const NodeMeasure& measure(std::uint32_t node) const { return measures_.nodes[node]; }
  const ValueNoise& value(std::uint32_t value) const { return measures_.values[value]; }
  bool is_above(std::uint32_t which) const {
    return value(which).floating && value(which).measure.above > 0;
  }

  bool may_be_infinite(std::uint32_t which) const {
    return is_above(which) || value(which).infinite_from < HUGE_VAL;
  }

  const InputEffect* effect(std::uint32_t node, std::size_t input) const {
    return effect_in(measure(node).inputs, node, input);
  }
  const InputEffect* effect_in(const std::vector<InputEffect>& effects, std::uint32_t node,
                               std::size_t input) const {
    const std::uint32_t which = network_.nodes()[node].inputs[input];
    for (const InputEffect& effect : effects)
      if (effect.input == input || network_.nodes()[node].inputs[effect.input] == which)
        return &effect;
    return nullptr;
  }

  // The error that the node's result may have, and what should remain of it once layers are kept
  // wide for its sake.
  double tolerable(std::uint32_t node) const {
    return tolerable_within(node, negligible_, tolerance_);
  }
  double left_over(std::uint32_t node) const {
    return tolerable_within(node, negligible_ / 4, tolerance_ / 4);
  }
  // The same for a value that reaches the node on several paths: its whole effect is known.
  double left_of_all(std::uint32_t node) const {
    return tolerable_within(node, negligible_ / 4, tolerance_);
  }
  // The same for all roundings together: ordinary errors may remain.
  double left_jointly(std::uint32_t node) const {
    return tolerable_within(node, negligible_ / 4, negligible_);
  }
  double tolerable_within(std::uint32_t node, double least, double most) const {
    const double rms = measure(node).rms;
    const auto error = sensitivity_->error_of_share(node, kToleratedShare);
    return rms * (error && rms > 0 ? std::clamp(*error / rms, least, most) : most);
  }
  double relative(std::uint32_t node, double error) const {
    return measure(node).rms > 0 ? error / measure(node).rms : error > 0 ? HUGE_VAL : 0;
  }

  bool known(std::uint32_t node) const {
    return measure(node).trouble.empty() && measure(node).passing != ErrorPropagation::unknown;
  }

  // Returns true if overflow is harmless because every reader tolerates Inf.
  bool absorbed(std::uint32_t which) {
    if (absorbed_[which]) return *absorbed_[which];
    absorbed_[which] = false;
    const bool all = !flow_.is_output(which) &&
                     std::ranges::all_of(flow_.readers(which), [&](const FlowReader& reader) {
                       return takes_inf(reader);
                     });
    absorbed_[which] = all;
    return all;
  }

  bool takes_inf(const FlowReader& reader) {
    if (!flow_.is_live(reader.node)) return true;
    if (!known(reader.node)) return false;
    const NodeMeasure& own = measure(reader.node);
    const InputEffect* const found = effect_in(
        own.with_infinite.empty() ? own.inputs : own.with_infinite, reader.node, reader.input);
    // The input is not a number of the result, but a limit of Clip or an index.
    if (found == nullptr) return own.passing != ErrorPropagation::products;
    const std::uint32_t which = network_.nodes()[reader.node].inputs[reader.input];
    if (own.passing == ErrorPropagation::windows && value(which).infinite_from < HUGE_VAL)
      return false;
    const auto& outputs = network_.nodes()[reader.node].outputs;
    const bool passed = std::ranges::all_of(outputs, [&](std::uint32_t output) {
      return output == kNoValue || !may_be_infinite(output) || absorbed(output);
    });
    if (found->passes_on) return passed;
    if (own.passing == ErrorPropagation::products || found->nan > 0) return false;
    return passed && !matters(reader.node, found->error);
  }

  void add(std::uint32_t node, const NodeFinding& finding) {
    std::vector<NodeFinding>& list = findings_[node];
    for (const NodeFinding& known : list)
      if (known.reason == finding.reason && known.value == finding.value) return;
    list.push_back(finding);
  }

  void overflows(std::uint32_t node) {
    const network::Node& own = network_.nodes()[node];
    for (const std::uint32_t output : own.outputs)
      if (output != kNoValue && is_above(output) && !absorbed(output))
        add(node, {FitReason::overflow_output, output, kNoNode, value(output).measure.largest,
                   type_.limit()});
    for (std::size_t i = 0; i < own.inputs.size(); ++i) {
      const std::uint32_t input = own.inputs[i];
      if (input == kNoValue || !is_above(input)) continue;
      if (takes_inf({node, i})) continue;
      const InputEffect* const found = effect(node, i);
      if (found != nullptr && found->nonfinite > 0 && found->nan == 0 &&
          may_be_infinite(own.outputs[0]) && absorbed(own.outputs[0]))
        continue;
      const bool harmless = found != nullptr && !found->passes_on && known(node) &&
                            measure(node).passing != ErrorPropagation::products &&
                            found->nonfinite == 0 && !matters(node, found->error);
      // If it passes the number on, the finding is at its output.
      if (harmless || (found != nullptr && found->passes_on)) continue;
      add(node,
          {FitReason::overflow_input, input, kNoNode, value(input).measure.largest, type_.limit()});
    }
  }

  void inside(std::uint32_t node) {
    const std::uint32_t output = network_.nodes()[node].outputs[0];
    if (measure(node).inside > type_.limit())
      add(node, {FitReason::overflow_inside, output, kNoNode, measure(node).inside, type_.limit()});
    const double variance = measure(node).variance_error * measure(node).rms;
    if (matters(node, variance))
      add(node, {FitReason::variance, output, kNoNode, measure(node).variance_error,
                 relative(node, tolerable(node))});
  }

  void inputs(std::uint32_t node) {
    double most = 0;
    for (const InputEffect& effect : measure(node).inputs)
      if (!effect.passes_on && effect.nonfinite == 0 && is_rounded(node, effect))
        most = std::max(most, effect.error);
    const bool off = matters(node, most);
    const bool together = adding_up_ && !off && adds_up(node, most) && !joint_.error(node, wide());
    for (const InputEffect& effect : measure(node).inputs) {
      if (effect.passes_on || !is_rounded(node, effect)) continue;  // judged where it is read
      const std::uint32_t input = network_.nodes()[node].inputs[effect.input];
      const bool above = is_above(input);
      if (effect.nonfinite > 0) {
        // An Inf in place of a number near the limit is harmless if the readers tolerate Inf.
        const std::uint32_t output = network_.nodes()[node].outputs[0];
        if (above && effect.nan == 0 && may_be_infinite(output) && absorbed(output)) continue;
        if (!above)
          add(node,
              {FitReason::nonfinite, input, kNoNode, static_cast<double>(effect.nonfinite), 0});
        walk(input, node, {.allowed = 0, .nonfinite = true});
        if (effect.gain > 0)
          walk(input, node, {.allowed = tolerable(node) / effect.gain, .at_node = tolerable(node)});
        continue;
      }
      const bool alone = off && effect.error > tolerable(node);
      const bool counts = together && is_amplified(node, effect.error);
      if (above || !(alone || counts)) continue;
      const bool lost = value(input).measure.error() > tolerance_;
      if (alone && !lost && dies_out(node, input)) continue;
      const double error = alone ? effect.error : sensitivity_->nearby(node);
      add(node, {lost ? FitReason::lost : FitReason::rounding, input, kNoNode,
                 relative(node, error), relative(node, tolerable(node))});
      walk(input, node, {.allowed = left_over(node) / effect.gain, .at_node = left_of_all(node)});
    }
  }

  // Returns true if elementwise functions that read the result remove the error: it is one of the
  // largest numbers, and these do not matter later.
  bool dies_out(std::uint32_t node, std::uint32_t input) {
    constexpr int kDepth = 4;
    return measure(node).passing == ErrorPropagation::places &&
           dies_after(network_.nodes()[node].outputs[0], input, kDepth);
  }

  bool dies_after(std::uint32_t which, std::uint32_t input, int depth) {
    if (flow_.is_output(which)) return false;
    return std::ranges::all_of(flow_.readers(which), [&](const FlowReader& reader) {
      if (!flow_.is_live(reader.node)) return true;
      if (!known(reader.node) || measure(reader.node).passing != ErrorPropagation::places)
        return false;
      const std::optional<double> error = recompute_.error_at_places(input, reader.node);
      if (!error) return false;
      return *error <= negligible_ * measure(reader.node).rms ||
             (depth > 0 && dies_after(network_.nodes()[reader.node].outputs[0], input, depth - 1));
    });
  }

  // Finds numbers that become 0 or negative in the narrow type and are then divided by, or have
  // their logarithm or root taken.
  void at_edges(std::uint32_t node) {
    if (!known(node) || measure(node).passing != ErrorPropagation::places) return;
    for (const EdgeRuns::Failure& failure : edges_.find(node, wide()))
      for (const std::uint32_t one : failure.nodes)
        add(one, at_edge(one, failure.node, failure.error));
  }

  NodeFinding at_edge(std::uint32_t one, std::uint32_t node, const EdgeError& found) const {
    if (one != node) {
      const std::uint32_t output = network_.nodes()[one].outputs[0];
      const double own = value(output).relative();
      return {FitReason::feeds, output, node, own,
              found.nonfinite > 0 ? 0 : own * tolerable(node) / found.error};
    }
    if (found.nonfinite > 0)
      return {FitReason::nonfinite, found.value, kNoNode, std::ceil(found.nonfinite), 0};
    return {FitReason::rounding, found.value, kNoNode, relative(node, found.error),
            relative(node, tolerable(node))};
  }

  bool fails(std::uint32_t node, const EdgeError& found) const {
    return found.nonfinite > 0 || (found.error > tolerable(node) && matters(node, found.error));
  }

  // Roundings of the node and of those before it, which it amplifies: each may be tolerable, and
  // all together not.
  void jointly(std::uint32_t node) {
    if (!known(node)) return;
    std::vector<InputEffect> amplified;
    for (const InputEffect& effect : measure(node).inputs)
      if (!effect.passes_on && effect.nonfinite == 0 && is_amplified(node, effect.error))
        amplified.push_back(effect);
    if (amplified.empty()) return;
    const auto error = joint_.error(node, wide());
    if (!error || *error <= tolerance_ * measure(node).rms || !spreads_from(node, *error, true))
      return;
    const auto share = sensitivity_->share(node, *error);
    if (share && *share <= kJointShare) return;
    const auto& inputs = network_.nodes()[node].inputs;
    if (std::ranges::all_of(amplified, [&](const InputEffect& effect) {
          return dies_out(node, inputs[effect.input]);
        }))
      return;
    const auto largest = std::ranges::max_element(amplified, {}, &InputEffect::error);
    const EdgeError found{.error = *error, .value = inputs[largest->input]};
    for (const std::uint32_t one :
         joint_.widened(node, wide(), left_jointly(node), [this](std::uint32_t candidate) {
           return is_fit_layer(network_, measures_, candidate);
         }))
      add(one, at_edge(one, node, found));
  }

  // Numbers that vanish in an output of the network.
  void outputs(std::uint32_t node) {
    for (const std::uint32_t output : network_.nodes()[node].outputs) {
      if (output == kNoValue || !flow_.is_output(output)) continue;
      const ValueNoise& own = value(output);
      if (!own.floating || own.measure.error() <= tolerance_) continue;
      add(node, {FitReason::lost, output, kNoNode, own.measure.error(), tolerance_});
      walk(output, node, {.allowed = tolerance_ * own.measure.rms()});
    }
  }

  // Keeps the node that rounds the value wide as well, and those before it whose rounding adds more
  // than what is allowed.
  void walk(std::uint32_t which, std::uint32_t for_node, const Walk& first) {
    // A stack, not recursion: graphs may be arbitrarily deep. The next step is at its end.
    std::vector<std::pair<std::uint32_t, Walk>> pending{{which, first}};
    while (!pending.empty()) {
      const auto [value, walk] = pending.back();
      pending.pop_back();
      const std::size_t known = pending.size();
      step(value, for_node, walk, pending);
      std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(known), pending.end());
    }
  }

  void step(std::uint32_t which, std::uint32_t for_node, Walk walk,
            std::vector<std::pair<std::uint32_t, Walk>>& next) {
    const std::uint32_t node = network_.values()[which].node;
    if (node == kNoNode || network_.values()[which].weight || !value(which).floating) return;
    if (walk.at_node > 0) {
      // If the error reaches that node on several paths, a single path does not show its effect.
      const std::optional<double> error = recompute_.error(which, for_node);
      if (error && *error <= walk.at_node) return;
      if (error) walk.allowed = walk.at_node * value(which).noise / *error;
    }
    VisitedNode& before = visited_[node];
    if (walk.nonfinite ? before.nonfinite : before.allowed <= walk.allowed) return;
    if (walk.nonfinite)
      before.nonfinite = true;
    else
      before.allowed = walk.allowed;
    const double rms = value(which).measure.rms();
    if (node != for_node)
      add(node, {FitReason::feeds, which, for_node, value(which).relative(),
                 rms > 0 ? walk.allowed / rms : 0});
    if (!known(node)) return;
    for (const InputEffect& effect : measure(node).inputs) {
      const std::uint32_t input = network_.nodes()[node].inputs[effect.input];
      const bool changes = effect.nonfinite > 0 || effect.zeroed > 0 ||
                           (effect.passes_on && (value(input).measure.lost > 0 || is_above(input)));
      if (walk.nonfinite) {
        // Zeros from farther back are ordinary: activations make them.
        constexpr int kDepth = 3;
        if (changes && walk.depth < kDepth)
          next.push_back({input, {.allowed = 0, .nonfinite = true, .depth = walk.depth + 1}});
      } else if (effect.error > walk.allowed || (effect.nonfinite > 0 && effect.gain > 0)) {
        next.push_back({input, {.allowed = walk.allowed / effect.gain, .at_node = walk.at_node}});
      }
    }
  }

  bool is_rounded(std::uint32_t node, const InputEffect& effect) const {
    return sensitivity_->is_rounded(node, network_.nodes()[node].inputs[effect.input]);
  }

  // Returns true if the network does not tolerate an error of the node's result.
  bool matters(std::uint32_t node, double error) const {
    const double rms = measure(node).rms;
    if (error <= negligible_ * rms || error <= kInheritedFraction * sensitivity_->before(node))
      return false;
    const auto share = sensitivity_->share(node, error);
    if (error > tolerance_ * rms)
      return !(share && *share < kMinShare) && spreads_from(node, error);
    return share && *share > kToleratedShare;
  }

  bool is_amplified(std::uint32_t node, double error) const {
    return error > kAmplified * type_.unit_roundoff() * measure(node).rms;
  }

  // Returns true if roundings of a few nodes, each tolerable, are amplified by this node and are
  // too large together.
  bool adds_up(std::uint32_t node, double amplified) const {
    const double error = sensitivity_->nearby(node);
    if (!is_amplified(node, amplified) || error <= tolerance_ * measure(node).rms) return false;
    const auto share = sensitivity_->share(node, error);
    return share && *share > kWholeShare && spreads_from(node, error);
  }

  // Returns true if the error is still notable a few layers later. `alike`: the errors of the
  // results are similar, so that sums do not average them out as they do independent ones.
  bool spreads_from(std::uint32_t node, double error, bool alike = false) const {
    constexpr int kDepth = 4;
    int looks = kMaxLooks;
    return std::ranges::any_of(network_.nodes()[node].outputs, [&](std::uint32_t output) {
      return output != kNoValue && spreads(output, error, kDepth, alike, looks);
    });
  }

  // `looks`: the number of values that may still be examined; if it runs out, the answer is true.
  bool spreads(std::uint32_t which, double error, int depth, bool alike, int& looks) const {
    if (looks-- <= 0) return true;
    if (!value(which).floating) return true;  // errors of codes are not followed
    if (error == 0 || error <= negligible_ * value(which).measure.rms()) return false;
    if (flow_.is_output(which) || depth == 0) return true;
    return std::ranges::any_of(flow_.readers(which), [&](const FlowReader& reader) {
      if (!flow_.is_live(reader.node)) return false;
      const bool moved = measure(reader.node).passing == ErrorPropagation::moved;
      const InputEffect* const found =
          known(reader.node) ? effect(reader.node, reader.input) : nullptr;
      if (known(reader.node) && found == nullptr) return false;
      return std::ranges::any_of(network_.nodes()[reader.node].outputs, [&](std::uint32_t output) {
        if (output == kNoValue) return false;
        const double own = value(which).measure.rms();
        const double as_relative = own > 0 ? value(output).measure.rms() / own : 1;
        const double gain = found == nullptr ? as_relative : alike ? found->carried : found->gain;
        return spreads(output, error * gain, moved ? depth : depth - 1, alike, looks);
      });
    });
  }

  const network::Network& network_;
  const Flow& flow_;
  const DumpMeasures& measures_;
  const NarrowType& type_;
  double tolerance_;
  double negligible_;
  std::optional<Sensitivity> sensitivity_;
  bool adding_up_ = false;
  std::vector<std::optional<bool>> absorbed_;
  ForwardRecompute recompute_;
  EdgeRuns edges_;
  JointRounding joint_;
  std::map<std::uint32_t, VisitedNode> visited_;
  std::map<std::uint32_t, std::vector<NodeFinding>> findings_;
};

}  // namespace

bool is_fit_layer(const network::Network& network, const DumpMeasures& measures,
                  std::uint32_t node) {
  const NodeMeasure& measure = measures.nodes[node];
  if (measure.trouble.empty() && measure.passing == ErrorPropagation::none) return false;
  const network::Node& own = network.nodes()[node];
  const auto floating = [&](std::uint32_t value) {
    return value != kNoValue && measures.values[value].floating;
  };
  return std::ranges::any_of(own.inputs, floating) || std::ranges::any_of(own.outputs, floating);
}

std::map<std::uint32_t, std::vector<NodeFinding>> judge_nodes(const network::Network& network,
                                                              const Flow& flow, const Dump& dump,
                                                              const DumpMeasures& measures,
                                                              const NarrowType& type) {
  return Judge(network, flow, dump, measures, type).run();
}

}  // namespace btf
