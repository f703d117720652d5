#include "fit/sensitivity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "btf/try.h"
#include "fit/node_effects.h"
#include "fit/node_measure.h"
#include "network/evaluation.h"
#include "network/network.h"

namespace btf {
namespace {

// All paths from a value to a node.
struct Paths {
  std::vector<std::uint32_t> nodes;  // in the network's order; the last one gives the result
  std::size_t readers = 0;           // how many of them read the value itself
};

// Unset if the value does not reach the node, or only by more nodes than `most`.
std::optional<Paths> find_paths(const network::Network& network, const Flow& flow,
                                std::uint32_t value, std::uint32_t node, std::size_t most) {
  constexpr std::size_t kOthers = 4;  // nodes that are searched for each node on a path
  const auto& nodes = network.nodes();
  std::uint32_t first = node;
  for (const FlowReader& reader : flow.readers(value)) first = std::min(first, reader.node);
  // Search backwards from the result, up to the first node that reads the value.
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
  // Keep those that the value reaches.
  std::set<std::uint32_t> reached{value};
  Paths paths;
  for (const std::uint32_t one : before) {
    const auto& inputs = nodes[one].inputs;
    if (std::ranges::none_of(inputs, [&](std::uint32_t input) { return reached.contains(input); }))
      continue;
    paths.nodes.push_back(one);
    if (std::ranges::find(inputs, value) != inputs.end()) ++paths.readers;
    reached.insert(nodes[one].outputs.begin(), nodes[one].outputs.end());
    reached.erase(network::kNoValue);
  }
  if (paths.nodes.empty() || paths.nodes.back() != node || paths.nodes.size() > most)
    return std::nullopt;
  return paths;
}

using Run = std::vector<double>;

// The effect of rounding a value on a result that follows from it by elementwise functions, all of
// which are computed twice: the error of a few of the largest numbers may be what matters, or may
// vanish.
class PlaceChain {
 public:
  PlaceChain(const NodeContext& context, std::uint32_t value)
      : context_(context),
        value_(value),
        evaluation_(context.network, stored_in(context.dump), kMaxTerms),
        reading_(context.values[value], context.type, false) {}

  Result<std::optional<double>> error(const Paths& paths) {
    BTF_ASSIGN(std::optional<Numbers> found, open_numbers(context_.network, context_.dump, value_));
    if (!found) return std::nullopt;
    for (const std::uint32_t node : paths.nodes) {
      BTF_ASSIGN(const bool added, add(node, found->dims()));
      if (!added) return std::nullopt;
    }
    const std::uint64_t elements = found->elements();
    Effect effect;
    BTF_TRY(
        RunPlan(elements, kFitRun, 1, {}).visit([&](std::uint64_t first, double weight) -> Status {
          count_ = static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, elements - first));
          BTF_TRY(found->read(first, std::span(exact_).first(count_)));
          reading_.apply(first, std::span(exact_).first(count_), narrow_);
          for (Link& link : links_) BTF_TRY(compute(link, first));
          effect.take(std::span(links_.back().exact).first(count_),
                      std::span(links_.back().narrow).first(count_), HUGE_VAL, {}, weight);
          return {};
        }));
    InputEffect result;
    effect.write(result);
    if (result.nonfinite > 0) return std::nullopt;
    return effect.error();
  }

 private:
  struct Input {
    std::optional<std::size_t> link{};         // the link that computes it
    bool is_value = false;                     // it is the rounded value
    std::unique_ptr<PlacedNumbers> numbers{};  // for all other inputs
    Run read{};
  };
  struct Link {
    std::unique_ptr<NodeValues> values;
    const network::Operator* op = nullptr;
    std::vector<Input> inputs{};
    Run exact = Run(kFitRun);
    Run narrow = Run(kFitRun);
  };

  Result<bool> add(std::uint32_t node, const Dims& dims) {
    const network::Node& own = context_.network.nodes()[node];
    if (propagation_of(context_.network, own) != network::ErrorPropagation::places) return false;
    BTF_ASSIGN(const network::Operator* const op, evaluation_.made_operator(node));
    if (op->outputs()[0].dims != dims) return false;
    Link link{.values = std::make_unique<NodeValues>(context_, node, false), .op = op};
    const std::vector<Dims> placed = op->places();
    for (std::size_t i = 0; i < placed.size(); ++i) {
      Input& input = link.inputs.emplace_back();
      input.is_value = own.inputs[i] == value_;
      if (const auto at = std::ranges::find_if(
              links_,
              [&](const Link& one) { return one.values->node().outputs[0] == own.inputs[i]; });
          at != links_.end())
        input.link = static_cast<std::size_t>(at - links_.begin());
      if (input.is_value || input.link) {
        if (placed[i] != dims) return false;
        continue;
      }
      BTF_ASSIGN(Numbers* const numbers, link.values->numbers(i));
      input.numbers = std::make_unique<PlacedNumbers>(*numbers, placed[i], dims);
      input.read.resize(kFitRun);
    }
    links_.push_back(std::move(link));
    return true;
  }

  Status compute(Link& link, std::uint64_t first) {
    std::vector<std::span<const double>> exact;
    std::vector<std::span<const double>> narrow;
    for (Input& input : link.inputs) {
      if (input.numbers) BTF_TRY(input.numbers->read(first, std::span(input.read).first(count_)));
      const Run& right = input.is_value ? exact_
                         : input.link   ? links_[*input.link].exact
                                        : input.read;
      const Run& off = input.is_value ? narrow_
                       : input.link   ? links_[*input.link].narrow
                                      : input.read;
      exact.push_back(std::span(right).first(count_));
      narrow.push_back(std::span(off).first(count_));
    }
    link.op->at_places(exact, std::span(link.exact).first(count_));
    link.op->at_places(narrow, std::span(link.narrow).first(count_));
    return {};
  }

  const NodeContext& context_;
  std::uint32_t value_;
  network::Evaluation evaluation_;
  Reading reading_;
  std::vector<Link> links_;
  Run exact_ = Run(kFitRun);
  Run narrow_ = Run(kFitRun);
  std::size_t count_ = 0;  // of the run
};

// Root mean square of the result's error. Unset if another operator is on the paths, dims change,
// numbers are missing, or something becomes Inf or NaN.
std::optional<double> chain_error(const NodeContext& context, std::uint32_t value,
                                  const Paths& paths) {
  const auto error = PlaceChain(context, value).error(paths);
  return error ? *error : std::nullopt;  // an error of reading is noted where it arose
}

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
  // Values without readers may be read in a subgraph or be outputs that were not declared.
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

constexpr std::size_t kMaxNodes = 16;
constexpr std::uint64_t kMaxResults = 64;           // that are compared
constexpr std::uint64_t kMaxTermsOfOne = 1U << 21;  // for one value and node
constexpr std::uint64_t kMaxTermsOfAll = 1U << 26;

std::optional<double> ForwardRecompute::error(std::uint32_t value, std::uint32_t node) {
  const auto [at, added] = known_.try_emplace({value, node});
  if (added) at->second = computed(value, node);
  return at->second;
}

std::optional<double> ForwardRecompute::error_at_places(std::uint32_t value, std::uint32_t node) {
  const auto [at, added] = at_places_.try_emplace({value, node});
  if (!added) return at->second;
  const std::optional<Paths> paths = find_paths(network_, flow_, value, node, kMaxNodes);
  const NodeContext context{network_, dump_, type_, measures_.values};
  if (paths) at->second = chain_error(context, value, *paths);
  return at->second;
}

std::optional<double> ForwardRecompute::computed(std::uint32_t value, std::uint32_t node) {
  const std::optional<Paths> paths = find_paths(network_, flow_, value, node, kMaxNodes);
  if (!paths || paths->readers < 2 || terms_ > kMaxTermsOfAll) return std::nullopt;
  const Reading reading(measures_.values[value], type_, false);
  network::Evaluation as_it_is(network_, stored_in(dump_), kMaxTermsOfOne);
  network::Evaluation rounded(network_, stored_in(dump_), kMaxTermsOfOne);
  rounded.change(value,
                 [&reading](std::uint64_t number, double x) { return reading.one(number, x); });
  double squares = 0;
  std::uint64_t count = 0;
  const std::array evaluations{&as_it_is, &rounded};
  std::array<network::Operator*, 2> operators{};
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    for (const std::uint32_t one : paths->nodes)
      for (const std::uint32_t output : network_.nodes()[one].outputs)
        evaluations[i]->leave_out(output);
    evaluations[i]->set({.operand = 0, .result = 0, .accumulator = 0});
    const auto made = evaluations[i]->made_operator(node);
    if (!made) return std::nullopt;
    operators[i] = *made;
  }
  const std::uint64_t all = element_count(operators[0]->outputs()[0].dims).value_or(0);
  const std::uint64_t wanted = std::min(all, kMaxResults);
  bool finite = true;
  for (std::uint64_t i = 0; i < wanted && finite; ++i) {
    const std::uint64_t number = sample_index(i, wanted, all);
    const double right = operators[0]->element(0, number).value;
    const double off = operators[1]->element(0, number).value;
    if (!std::isfinite(right)) continue;
    finite = std::isfinite(off);
    squares += (off - right) * (off - right);
    ++count;
  }
  for (const network::Evaluation* const one : evaluations) {
    terms_ += one->effort().terms;
    finite &= one->effort().trouble.empty();
  }
  if (!finite || count == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(count));
}

namespace {

using network::ErrorPropagation;
using network::kNoValue;

// If all tensors are outputs, the last ones represent the others.
constexpr std::size_t kMaxOutputs = 32;

// Inherited errors of networks that work stay below this multiple of the limit of amplification.
constexpr double kMaxBefore = 16;

// Returns true if it is known how errors pass through the node. If not, relative errors are taken
// to stay the same.
bool passes(const NodeMeasure& measure) {
  return measure.trouble.empty() && measure.passing != ErrorPropagation::unknown;
}

// Returns true for constants and shapes: these depend on no numbers of the network and, as weights,
// are rounded by the nodes that read them.
bool is_constant(const NodeMeasure& measure) {
  return measure.trouble.empty() && measure.passing == ErrorPropagation::none;
}

double gain_of_result(const network::Node& node, const std::vector<double>& gains) {
  double sum = 0;
  for (const std::uint32_t value : node.outputs)
    if (value != kNoValue) sum += gains[value];
  return sum;
}

bool is_amplified(const NodeMeasure& measure, const InputEffect& effect, double amplified) {
  return effect.error > amplified * measure.rms;
}

// The ratio of the values' mean squares.
double ratio(const DumpMeasures& measures, std::uint32_t output, std::uint32_t input) {
  const double own = measures.values[input].measure.mean_square();
  const double of_result = measures.values[output].measure.mean_square();
  return own > 0 && of_result > 0 ? of_result / own : 1;
}

// The gain of mean square errors. In networks that work relative errors do not grow from layer to
// layer.
double gain_of_square(const network::Network& network, const DumpMeasures& measures,
                      std::uint32_t number, const InputEffect& effect, double amplified) {
  const network::Node& node = network.nodes()[number];
  const double gain = effect.carried * effect.carried;
  if (is_amplified(measures.nodes[number], effect, amplified) || node.outputs[0] == kNoValue)
    return gain;
  return std::min(gain, ratio(measures, node.outputs[0], node.inputs[effect.input]));
}

// The sum of the squares of ordinary rounding errors. These are many, and none of them is far above
// the others.
double sum_of_ordinary(std::vector<double>& squares) {
  constexpr double kPart = 0.8;  // the percentile that counts as an ordinary error
  constexpr double kAbove = 16;  // larger ones are cut off at this multiple of it
  if (squares.empty()) return 0;
  const auto at = squares.begin() +
                  static_cast<std::ptrdiff_t>(kPart * static_cast<double>(squares.size() - 1));
  std::ranges::nth_element(squares, at);
  const double most = kAbove * *at;
  double sum = 0;
  for (const double square : squares) sum += std::min(square, most);
  return sum;
}

}  // namespace

Sensitivity::Sensitivity(const network::Network& network, const Flow& flow,
                         const DumpMeasures& measures, const NarrowType& type,
                         std::vector<bool> wide)
    : network_(network),
      measures_(measures),
      amplified_(kAmplified * type.unit_roundoff()),
      wide_(std::move(wide)) {
  std::vector<std::uint32_t> ends;
  for (std::uint32_t value = 0; value < network.values().size(); ++value)
    if (flow.is_output(value) && measures.values[value].floating &&
        measures.values[value].measure.squares > 0)
      ends.push_back(value);
  if (ends.size() > kMaxOutputs)
    ends.erase(ends.begin(), ends.end() - static_cast<std::ptrdiff_t>(kMaxOutputs));
  for (const std::uint32_t end : ends) outputs_.push_back(follow_back(end));
  find_unseen();
  follow_on();
  follow_nearby();
}

Sensitivity::Output Sensitivity::follow_back(std::uint32_t end) const {
  std::vector<double> gains(network_.values().size(), 0);
  const ValueNoise& last = measures_.values[end];
  gains[end] = 1 / last.measure.mean_square();
  std::vector<double> squares{last.noise * last.noise * gains[end]};
  for (std::size_t number = network_.nodes().size(); number-- > 0;) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    const double of_result = gain_of_result(node, gains);
    if (of_result == 0) continue;
    if (!passes(measure)) {
      for (const std::uint32_t input : node.inputs)
        for (const std::uint32_t output : node.outputs)
          if (is_float(input) && is_float(output))
            gains[input] += ratio(measures_, output, input) * gains[output];
      continue;
    }
    for (const InputEffect& effect : measure.inputs) {
      gains[node.inputs[effect.input]] +=
          gain_of(static_cast<std::uint32_t>(number), effect) * of_result;
      if (is_ordinary(static_cast<std::uint32_t>(number), effect) && effect.error > 0)
        squares.push_back(effect.error * effect.error * of_result);
    }
  }
  return {std::move(gains), sum_of_ordinary(squares)};
}

void Sensitivity::follow_on() {
  std::vector<double> squares(network_.values().size(), 0);
  before_.assign(network_.nodes().size(), 0);
  for (std::uint32_t number = 0; number < network_.nodes().size(); ++number) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    if (!passes(measure)) {
      for (const std::uint32_t output : node.outputs)
        for (const std::uint32_t input : node.inputs)
          if (is_float(input) && is_float(output))
            squares[output] += ratio(measures_, output, input) * squares[input];
      continue;
    }
    double& sum = before_[number];
    for (const InputEffect& effect : measure.inputs) {
      sum += gain_of(number, effect) * squares[node.inputs[effect.input]];
      if (is_ordinary(number, effect)) sum += effect.error * effect.error;
    }
    // Errors that cancel are treated as independent, so the sum may be too large.
    const double most = kMaxBefore * amplified_ * measure.rms;
    sum = std::min(sum, most * most);
    for (const std::uint32_t output : node.outputs)
      if (output != kNoValue) squares[output] = sum;
  }
}

void Sensitivity::follow_nearby() {
  constexpr std::size_t kNodes = 5;
  using ByAge = std::array<double, kNodes>;  // squares of errors, by nodes since they arose
  std::vector<ByAge> values(network_.values().size(), ByAge{});
  nearby_.assign(network_.nodes().size(), 0);
  for (std::uint32_t number = 0; number < network_.nodes().size(); ++number) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    if (!passes(measure)) continue;
    const std::size_t older = measure.passing == ErrorPropagation::moved ? 0 : 1;
    ByAge sums{};
    for (const InputEffect& effect : measure.inputs) {
      const std::uint32_t input = node.inputs[effect.input];
      const double gain = gain_of(number, effect);
      for (std::size_t age = 0; age + older < kNodes; ++age)
        if (values[input][age] > 0 && gain > 0) sums[age + older] += gain * values[input][age];
      if (!effect.passes_on && effect.nonfinite == 0 && is_rounded(number, input))
        sums[0] += effect.error * effect.error;
    }
    for (const double sum : sums) nearby_[number] += sum;
    for (const std::uint32_t output : node.outputs)
      if (output != kNoValue) values[output] = sums;
  }
}

// Errors are not followed through integers, as in quantised layers.
void Sensitivity::find_unseen() {
  unseen_.assign(network_.values().size(), false);
  for (std::size_t number = network_.nodes().size(); number-- > 0;) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    if (is_constant(measure)) continue;
    const bool followed = passes(measure) && measure.passing != ErrorPropagation::moved;
    const bool any = std::ranges::any_of(node.outputs, [&](std::uint32_t value) {
      return value != kNoValue &&
             (unseen_[value] || (!followed && !measures_.values[value].floating));
    });
    if (!any) continue;
    for (const std::uint32_t input : node.inputs)
      if (input != kNoValue) unseen_[input] = true;
  }
}

bool Sensitivity::is_ordinary(std::uint32_t node, const InputEffect& effect) const {
  return !effect.passes_on && !is_amplified(measures_.nodes[node], effect, amplified_) &&
         is_rounded(node, network_.nodes()[node].inputs[effect.input]);
}

bool Sensitivity::is_rounded(std::uint32_t node, std::uint32_t input) const {
  const std::uint32_t maker = network_.values()[input].node;
  return !wide_[node] ||
         (maker != network::kNoNode && !is_constant(measures_.nodes[maker]) && !wide_[maker]);
}

double Sensitivity::gain_of(std::uint32_t node, const InputEffect& effect) const {
  return gain_of_square(network_, measures_, node, effect, amplified_);
}

bool Sensitivity::is_float(std::uint32_t value) const {
  return value != kNoValue && measures_.values[value].floating;
}

double Sensitivity::share_of_one(std::uint32_t node) const {
  const network::Node& own = network_.nodes()[node];
  for (const std::uint32_t value : own.outputs)
    if (value != kNoValue && unseen_[value]) return 0;
  double most = 0;
  for (const Output& output : outputs_) {
    const double gain = gain_of_result(own, output.gains);
    if (gain > 0 && output.noise > 0) most = std::max(most, std::sqrt(gain / output.noise));
  }
  return most;
}

double Sensitivity::before(std::uint32_t node) const { return std::sqrt(before_[node]); }
double Sensitivity::nearby(std::uint32_t node) const { return std::sqrt(nearby_[node]); }

std::optional<double> Sensitivity::share(std::uint32_t node, double error) const {
  const double one = share_of_one(node);
  return one > 0 ? std::optional(error * one) : std::nullopt;
}

std::optional<double> Sensitivity::error_of_share(std::uint32_t node, double share) const {
  const double one = share_of_one(node);
  return one > 0 ? std::optional(share / one) : std::nullopt;
}

namespace {

// Mean square errors by value. `grows`: relative errors may grow from layer to layer.
std::vector<double> follow_errors(const network::Network& network, const DumpMeasures& measures,
                                  const NarrowType& type, const AssumedNodes& nodes, bool grows) {
  const double amplified = kAmplified * type.unit_roundoff();
  std::vector<double> errors(network.values().size(), 0);  // mean squares
  std::vector<bool> rounded(network.values().size(), false);
  for (std::uint32_t node = 0; node < network.nodes().size(); ++node) {
    const network::Node& own = network.nodes()[node];
    const NodeMeasure& measure = measures.nodes[node];
    if (is_constant(measure)) continue;
    const bool wide = nodes.wide[node];
    double carried = !wide && nodes.infinite[node] ? HUGE_VAL : 0;
    for (const InputEffect& effect : measure.inputs) {
      const std::uint32_t input = own.inputs[effect.input];
      // A number above the limit is an error in each node that reads it as Inf.
      const bool above = !effect.passes_on && measures.values[input].measure.above > 0;
      if (!wide && (!rounded[input] || above)) carried += effect.error * effect.error;
      const double gain = grows ? effect.carried * effect.carried
                                : gain_of_square(network, measures, node, effect, amplified);
      if (errors[input] > 0 && gain > 0) carried += gain * errors[input];
    }
    if (!wide) {
      const double off = measure.variance_error / 2 * measure.rms;
      carried += off * off;
    }
    for (const std::uint32_t output : own.outputs) {
      if (output == kNoValue || !measures.values[output].floating) continue;
      const double noise = measures.values[output].noise;
      const bool rounds = !wide && measure.passing != ErrorPropagation::moved;
      errors[output] = carried + (rounds ? noise * noise : 0);
      if (!passes(measure))
        for (const std::uint32_t input : own.inputs)
          if (input != kNoValue && errors[input] > 0)
            errors[output] += ratio(measures, output, input) * errors[input];
      rounded[output] = !wide;
    }
  }
  return errors;
}

}  // namespace

// Errors do grow in networks, but less than first-order propagation says. The estimate is between
// the two.
std::vector<double> output_errors(const network::Network& network, const DumpMeasures& measures,
                                  const NarrowType& type, const AssumedNodes& nodes) {
  const std::vector<double> least = follow_errors(network, measures, type, nodes, false);
  const std::vector<double> most = follow_errors(network, measures, type, nodes, true);
  std::vector<double> found;
  for (const std::uint32_t output : network.outputs()) {
    const double rms = measures.values[output].measure.rms();
    found.push_back(rms > 0 ? std::sqrt(std::sqrt(least[output]) * std::sqrt(most[output])) / rms
                            : 0);
  }
  return found;
}

}  // namespace btf
