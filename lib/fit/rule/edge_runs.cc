#include "fit/rule/edge_runs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fit/measure/node_values.h"
#include "fit/rule/judge.h"

namespace btf {

using network::kNoNode;
using network::kNoValue;
using network::Passing;

namespace {

// Nodes of a run. The fewest first: an error that comes from far off moves a number from an edge to
// another place by chance.
constexpr std::array<std::size_t, 3> kNodes{4, 8, 12};
// Results that are off by so much, relative and in half steps, are not rounded but others; and where
// there are such ones, those of so few, too.
constexpr double kOthers = 0.25;
constexpr double kManySteps = 64;
constexpr double kFewSteps = 16;
constexpr int kBehind = 3;  // nodes behind, of which results are computed, too
constexpr std::size_t kMoreBehind = 4;  // so many and twice as many, to what reads a result

std::vector<std::uint64_t> numbers_of(std::span<const EdgeResult> results) {
  std::vector<std::uint64_t> numbers;
  for (const EdgeResult& one : results) numbers.push_back(one.result);
  return numbers;
}

}  // namespace

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
    const bool by_places = std::ranges::all_of(
        std::span(part.nearest()).first(part.size()), [&](std::uint32_t node) {
          const Passing passing = measures_.nodes[node].passing;
          return passing == Passing::places || passing == Passing::moved;
        });
    if (!by_places) return;
    const std::vector<std::uint32_t> read = part.read_values();
    if (read.size() != 1 || !comes_to_zero(read[0])) continue;
    part.read_as_zero(read[0]);
    if (!add(runs, std::move(part), {{.value = result.value, .result = result.result, .weight = 1}}))
      return;
    runs.push_front(std::move(runs.back()));
    runs.pop_back();
    return;
  }
}

bool EdgeRuns::comes_to_zero(std::uint32_t value) const {
  constexpr double kNear = 0x1p-6;
  constexpr std::uint64_t kMost = 1U << 16;
  const TensorMeasure& measure = context_.values[value].measure;
  if (measure.smallest > kNear * measure.rms()) return false;
  auto numbers = open_numbers(context_.network, context_.dump, value);
  if (!numbers || !*numbers) return false;
  std::vector<double> some(std::min(kMost, (*numbers)->elements()));
  if (!(*numbers)->read(0, some)) return false;
  return std::ranges::any_of(some, [](double x) { return x < 0; }) &&
         std::ranges::any_of(some, [](double x) { return x > 0; });
}

std::optional<EdgeError> EdgeRuns::error_of(const Run& run, std::uint32_t node,
                                            const std::vector<bool>& wide,
                                            double others) const {
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
  if (!measure.trouble.empty() || measure.passing != Passing::places) return std::nullopt;
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

}  // namespace btf
