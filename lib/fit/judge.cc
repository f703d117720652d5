// What a narrow device makes of results near an edge of a function: by a few nodes before them all
// roundings together, since 0 may come of several, and in so few numbers that no mean shows it.
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

}  // namespace

using network::ErrorPropagation;
using network::kNoNode;
using network::kNoValue;

namespace {

// Nodes of a run. The fewest first: an error that comes from far off moves a number from an edge to
// another place by chance.
constexpr std::array<std::size_t, 3> kNodes{4, 8, 12};

// Results that are off by so much, relative and in half steps, are not rounded but others; and
// where there are such ones, those of so few, too.
constexpr double kOthers = 0.25;
constexpr double kManySteps = 64;
constexpr double kFewSteps = 16;
constexpr int kBehind = 3;              // nodes behind, of which results are computed, too
constexpr std::size_t kMoreBehind = 4;  // so many and twice as many, to what reads a result

std::vector<std::uint64_t> numbers_of(std::span<const EdgeResult> results) {
  std::vector<std::uint64_t> numbers;
  for (const EdgeResult& one : results) numbers.push_back(one.result);
  return numbers;
}

std::vector<EdgeRuns::Found> EdgeRuns::find(std::uint32_t node, std::vector<bool> wide) {
  const double others = std::min(kOthers, kManySteps * context_.type.unit_roundoff());
  std::vector<Found> all;
  for (const Run& run : runs_of(node)) {
    const std::optional<EdgeError> error = error_of(run, node, wide, others);
    if (!error || (error->nonfinite == 0 && error->error == 0)) continue;
    Found found;
    if (is_borne(run, node, {wide, others, kBehind}, &found)) continue;
    found.nodes = widened(run, node, wide);
    if (!found.nodes.empty()) all.push_back(std::move(found));
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

// Does something vanish on the way, or an error grow?
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

// Of numbers of both signs any may be 0 with other inputs, and a result then be 0 / 0. Before all
// others: what is wide for its sake no chance moves.
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
                                            const std::vector<bool>& wide, double others) const {
  const auto off = run.part.narrow(numbers_of(run.results), wide);
  if (!off) return std::nullopt;
  EdgeError found;
  double squares = 0;
  const double least = context_.type.unit_roundoff() * measures_.nodes[node].rms;
  for (std::size_t i = 0; i < off->size(); ++i) {
    const double right = run.right[i];
    const EdgeResult& one = run.results[i];
    if (!(std::abs(right) <= context_.type.limit())) continue;  // what overflows is another matter
    if (!std::isfinite((*off)[i])) {
      if (found.nonfinite == 0) found.value = one.value;
      found.nonfinite += one.weight;
      continue;
    }
    const double error = (*off)[i] - right;
    if (std::abs(error) <= std::max(others * std::abs(right), least)) continue;
    squares += one.weight * error * error;
    if (found.value == kNoValue) found.value = one.value;
  }
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  const auto results = static_cast<double>(context_.values[output].measure.elements);
  found.error = results > 0 ? std::sqrt(squares / results) : 0;
  return found;
}

// A limit, a choice of another number or a product with what is small there may make nothing of it;
// and what is little beside the node's other results may be much in those behind it.
bool EdgeRuns::is_borne(const Run& run, std::uint32_t node, const Asked& asked,
                        Found* failing) const {
  const auto error = error_of(run, node, asked.wide, asked.others);
  const bool borne = error && (asked.failing ? is_little(node, *error) : !fails_(node, *error));
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  const auto told = [&] {
    if (!borne && failing != nullptr && error) {
      failing->node = node;
      failing->error = *error;
    }
    return borne;
  };
  if (asked.depth == 0 || flow_.is_output(output)) return told();
  return std::ranges::all_of(flow_.readers(output), [&](const FlowReader& reader) {
    if (!flow_.is_live(reader.node)) return true;
    const std::optional<Run> behind = run_behind(run, output, reader.node);
    if (!behind) return told();
    return is_borne(*behind, reader.node, {asked.wide, asked.others, asked.depth - 1, !borne},
                    failing);
  });
}

bool EdgeRuns::is_little(std::uint32_t node, const EdgeError& error) const {
  const double borne = kFitTolerance * context_.type.unit_roundoff();
  return error.nonfinite == 0 && error.error <= borne * measures_.nodes[node].rms;
}

// By a node that reads the results place by place. Nothing: it does otherwise.
std::optional<EdgeRuns::Run> EdgeRuns::run_behind(const Run& run, std::uint32_t result,
                                                  std::uint32_t node) const {
  const NodeMeasure& measure = measures_.nodes[node];
  if (!measure.trouble.empty() || measure.passing != ErrorPropagation::places) return std::nullopt;
  const std::uint32_t output = context_.network.nodes()[node].outputs[0];
  if (context_.values[output].measure.elements != context_.values[result].measure.elements)
    return std::nullopt;
  NarrowPart part(context_, measures_, node, 2 * run.part.size() + kMoreBehind, terms_);
  if (!part.has(run.part)) return std::nullopt;
  if (run.part.zero()) part.read_as_zero(*run.part.zero());
  auto right = part.right(numbers_of(run.results));
  if (!right) return std::nullopt;
  return Run{std::move(part), run.results, *std::move(right)};
}

// The nearest nodes, and of these only such as must be. None: it does not help that all are.
std::vector<std::uint32_t> EdgeRuns::widened(const Run& run, std::uint32_t node,
                                             std::vector<bool>& wide) const {
  const double others = std::min(kOthers, kFewSteps * context_.type.unit_roundoff());
  const auto borne = [&] { return is_borne(run, node, {wide, others, kBehind}, nullptr); };
  std::vector<std::uint32_t> added;
  bool enough = false;
  for (const std::uint32_t one : run.part.nearest()) {
    if (wide[one] || !is_fit_layer(context_.network, measures_, one)) continue;
    wide[one] = true;
    added.push_back(one);
    enough = borne();
    if (enough) break;
  }
  if (!enough) {
    for (const std::uint32_t one : added) wide[one] = false;
    return {};
  }
  std::ranges::sort(added);
  std::erase_if(added, [&](std::uint32_t one) {
    wide[one] = false;
    wide[one] = !borne();
    return !wide[one];
  });
  return added;
}

using network::ErrorPropagation;
using network::kNoNode;
using network::kNoValue;

// Parts of an output's error by ordinary rounding.
constexpr double kBorneShare = 0.25;  // of an error that is none to speak of where it arises
constexpr double kMinShare = 0.02;    // less does not matter, however large it is there
constexpr double kWholeShare = 1;     // of roundings that are borne each, by what each does
constexpr double kJointShare = 0.5;   // of the same, where all were done at once

// The part of the error that a result has from before below which another one does not matter.
constexpr double kBesideBefore = 1.0 / 3;

// Values behind a result that are looked at for what becomes of an error of it.
constexpr int kMaxLooks = 4096;

class Judge {
 public:
  Judge(const network::Network& network, const Flow& flow, const Dump& dump,
        const DumpMeasures& measures, const NarrowType& type)
      : network_(network),
        flow_(flow),
        measures_(measures),
        type_(type),
        bearable_(kFitTolerance * type.unit_roundoff()),
        least_(kFitLeast * type.unit_roundoff()),
        absorbed_(network.values().size()),
        replay_(network, flow, dump, measures, type),
        edges_({network, dump, type, measures.values}, measures, flow,
               [this](std::uint32_t node, const EdgeError& error) { return fails(node, error); }),
        joint_({network, dump, type, measures.values}, measures) {}

  // With what must stay wide wide, others may matter.
  std::map<std::uint32_t, std::vector<NodeFinding>> run() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t known = findings_.size();
      sensitivity_.emplace(network_, flow_, measures_, type_, wide());
      judge_all();
      if (findings_.size() > known) continue;
      // Beside what single roundings do it would be the same once more.
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
    double at_node = 0;      // error of the result of the node that it is for
    bool nonfinite = false;  // zeros and Infs are what cannot be borne
    int depth = 0;           // nodes on the way
  };

  struct Walked {
    double allowed = HUGE_VAL;  // the least so far
    bool nonfinite = false;
  };

  std::vector<bool> wide() const {
    std::vector<bool> wide(network_.nodes().size(), false);
    for (const auto& [node, found] : findings_) wide[node] = true;
    return wide;
  }

  void judge_all() {
    std::ranges::fill(absorbed_, std::nullopt);
    walked_.clear();
    // From the last node on, so that each finds what it asks of those behind it.
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

  // The error that the node's result may have; and what is left of it once layers are wide for its
  // sake.
  double bearable(std::uint32_t node) const { return bearable_within(node, least_, bearable_); }
  double left_over(std::uint32_t node) const {
    return bearable_within(node, least_ / 4, bearable_ / 4);
  }
  // Of a value that comes there by several ways the whole effect is known, not one of many.
  double left_of_all(std::uint32_t node) const {
    return bearable_within(node, least_ / 4, bearable_);
  }
  // Of all roundings together what is ordinary is left.
  double left_jointly(std::uint32_t node) const {
    return bearable_within(node, least_ / 4, least_);
  }
  double bearable_within(std::uint32_t node, double least, double most) const {
    const double rms = measure(node).rms;
    const auto error = sensitivity_->error_of_share(node, kBorneShare);
    return rms * (error && rms > 0 ? std::clamp(*error / rms, least, most) : most);
  }
  double relative(std::uint32_t node, double error) const {
    return measure(node).rms > 0 ? error / measure(node).rms : error > 0 ? HUGE_VAL : 0;
  }

  bool known(std::uint32_t node) const {
    return measure(node).trouble.empty() && measure(node).passing != ErrorPropagation::unknown;
  }

  // Numbers above the limit do no harm where all that read them take Inf as well.
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
    // It is no number of the result: a limit of Clip, an index.
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
      if (harmless || (found != nullptr && found->passes_on)) continue;  // its output is the reason
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
                 relative(node, bearable(node))});
  }

  void inputs(std::uint32_t node) {
    double most = 0;
    for (const InputEffect& effect : measure(node).inputs)
      if (!effect.passes_on && effect.nonfinite == 0 && is_rounded(node, effect))
        most = std::max(most, effect.error);
    const bool off = matters(node, most);
    const bool together = adding_up_ && !off && adds_up(node, most) && !joint_.error(node, wide());
    for (const InputEffect& effect : measure(node).inputs) {
      if (effect.passes_on || !is_rounded(node, effect)) continue;  // whoever reads it tells
      const std::uint32_t input = network_.nodes()[node].inputs[effect.input];
      const bool above = is_above(input);
      if (effect.nonfinite > 0) {
        // Inf in place of a number that is near it does no harm where Inf does none.
        const std::uint32_t output = network_.nodes()[node].outputs[0];
        if (above && effect.nan == 0 && may_be_infinite(output) && absorbed(output)) continue;
        if (!above)
          add(node,
              {FitReason::nonfinite, input, kNoNode, static_cast<double>(effect.nonfinite), 0});
        walk(input, node, {.allowed = 0, .nonfinite = true});
        if (effect.gain > 0)
          walk(input, node, {.allowed = bearable(node) / effect.gain, .at_node = bearable(node)});
        continue;
      }
      const bool alone = off && effect.error > bearable(node);
      const bool counts = together && is_amplified(node, effect.error);
      if (above || !(alone || counts)) continue;
      const bool lost = value(input).measure.error() > bearable_;
      if (alone && !lost && dies_out(node, input)) continue;
      const double error = alone ? effect.error : sensitivity_->nearby(node);
      add(node, {lost ? FitReason::lost : FitReason::rounding, input, kNoNode,
                 relative(node, error), relative(node, bearable(node))});
      walk(input, node, {.allowed = left_over(node) / effect.gain, .at_node = left_of_all(node)});
    }
  }

  // Is nothing left of it where functions of elements have taken the result: an error of numbers
  // that are the largest, and come to nothing behind it?
  bool dies_out(std::uint32_t node, std::uint32_t input) {
    constexpr int kDepth = 4;
    return measure(node).passing == ErrorPropagation::places &&
           dies_behind(network_.nodes()[node].outputs[0], input, kDepth);
  }

  bool dies_behind(std::uint32_t which, std::uint32_t input, int depth) {
    if (flow_.is_output(which)) return false;
    return std::ranges::all_of(flow_.readers(which), [&](const FlowReader& reader) {
      if (!flow_.is_live(reader.node)) return true;
      if (!known(reader.node) || measure(reader.node).passing != ErrorPropagation::places)
        return false;
      const std::optional<double> error = replay_.error_at_places(input, reader.node);
      if (!error) return false;
      return *error <= least_ * measure(reader.node).rms ||
             (depth > 0 && dies_behind(network_.nodes()[reader.node].outputs[0], input, depth - 1));
    });
  }

  // A number that is 0 in the narrow type, or below it, where it is not, and what divides by it or
  // takes its logarithm or its root.
  void at_edges(std::uint32_t node) {
    if (!known(node) || measure(node).passing != ErrorPropagation::places) return;
    for (const EdgeRuns::Found& found : edges_.find(node, wide()))
      for (const std::uint32_t one : found.nodes) add(one, at_edge(one, found.node, found.error));
  }

  NodeFinding at_edge(std::uint32_t one, std::uint32_t node, const EdgeError& found) const {
    if (one != node) {
      const std::uint32_t output = network_.nodes()[one].outputs[0];
      const double own = value(output).relative();
      return {FitReason::feeds, output, node, own,
              found.nonfinite > 0 ? 0 : own * bearable(node) / found.error};
    }
    if (found.nonfinite > 0)
      return {FitReason::nonfinite, found.value, kNoNode, std::ceil(found.nonfinite), 0};
    return {FitReason::rounding, found.value, kNoNode, relative(node, found.error),
            relative(node, bearable(node))};
  }

  bool fails(std::uint32_t node, const EdgeError& found) const {
    return found.nonfinite > 0 || (found.error > bearable(node) && matters(node, found.error));
  }

  // Roundings of the node and of those before it, which it amplifies: each may be borne, and all
  // together not.
  void jointly(std::uint32_t node) {
    if (!known(node)) return;
    std::vector<InputEffect> amplified;
    for (const InputEffect& effect : measure(node).inputs)
      if (!effect.passes_on && effect.nonfinite == 0 && is_amplified(node, effect.error))
        amplified.push_back(effect);
    if (amplified.empty()) return;
    const auto error = joint_.error(node, wide());
    if (!error || *error <= bearable_ * measure(node).rms || !spreads_from(node, *error, true))
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
      if (!own.floating || own.measure.error() <= bearable_) continue;
      add(node, {FitReason::lost, output, kNoNode, own.measure.error(), bearable_});
      walk(output, node, {.allowed = bearable_ * own.measure.rms()});
    }
  }

  // Whoever rounds the value must stay wide, too, and whoever rounds what that is computed from by
  // more than what is allowed.
  void walk(std::uint32_t which, std::uint32_t for_node, const Walk& first) {
    // What is asked next is at the back: a graph may be as deep as it likes.
    std::vector<std::pair<std::uint32_t, Walk>> asked{{which, first}};
    while (!asked.empty()) {
      const auto [value, walk] = asked.back();
      asked.pop_back();
      const std::size_t known = asked.size();
      step(value, for_node, walk, asked);
      std::reverse(asked.begin() + static_cast<std::ptrdiff_t>(known), asked.end());
    }
  }

  void step(std::uint32_t which, std::uint32_t for_node, Walk walk,
            std::vector<std::pair<std::uint32_t, Walk>>& next) {
    const std::uint32_t node = network_.values()[which].node;
    if (node == kNoNode || network_.values()[which].weight || !value(which).floating) return;
    if (walk.at_node > 0) {
      // Where it comes there by several ways, one of them does not tell what it does.
      const std::optional<double> error = replay_.error(which, for_node);
      if (error && *error <= walk.at_node) return;
      if (error) walk.allowed = walk.at_node * value(which).noise / *error;
    }
    Walked& before = walked_[node];
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
        // What becomes zero farther back is ordinary: activations do.
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

  // Is an error of the node's result one that the network does not bear?
  bool matters(std::uint32_t node, double error) const {
    const double rms = measure(node).rms;
    if (error <= least_ * rms || error <= kBesideBefore * sensitivity_->before(node)) return false;
    const auto share = sensitivity_->share(node, error);
    if (error > bearable_ * rms) return !(share && *share < kMinShare) && spreads_from(node, error);
    return share && *share > kBorneShare;
  }

  bool is_amplified(std::uint32_t node, double error) const {
    return error > kAmplified * type_.unit_roundoff() * measure(node).rms;
  }

  // Roundings of a few nodes that are borne each, where the last one amplifies them all.
  bool adds_up(std::uint32_t node, double amplified) const {
    const double error = sensitivity_->nearby(node);
    if (!is_amplified(node, amplified) || error <= bearable_ * measure(node).rms) return false;
    const auto share = sensitivity_->share(node, error);
    return share && *share > kWholeShare && spreads_from(node, error);
  }

  // Is it still one to speak of a few layers on? `alike`: the errors of the results are, so that
  // sums of them do not make less of them, as of independent ones.
  bool spreads_from(std::uint32_t node, double error, bool alike = false) const {
    constexpr int kDepth = 4;
    int looks = kMaxLooks;
    return std::ranges::any_of(network_.nodes()[node].outputs, [&](std::uint32_t output) {
      return output != kNoValue && spreads(output, error, kDepth, alike, looks);
    });
  }

  // `looks`: as many values are looked at; where that does not tell, it still is one.
  bool spreads(std::uint32_t which, double error, int depth, bool alike, int& looks) const {
    if (looks-- <= 0) return true;
    if (!value(which).floating) return true;  // codes: not followed
    if (error == 0 || error <= least_ * value(which).measure.rms()) return false;
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
  double bearable_;
  double least_;
  std::optional<Sensitivity> sensitivity_;
  bool adding_up_ = false;
  std::vector<std::optional<bool>> absorbed_;
  Replay replay_;
  EdgeRuns edges_;
  JointRounding joint_;
  std::map<std::uint32_t, Walked> walked_;
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
