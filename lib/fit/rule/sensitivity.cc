#include "fit/rule/sensitivity.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace btf {
namespace {

using network::kNoValue;
using network::Passing;

// Where every tensor is an output, the last ones stand for all.
constexpr std::size_t kMostOutputs = 32;
// Errors of networks that work stay below so many times what is amplified.
constexpr double kMostBefore = 16;

// Is it known how the node passes errors? Else it does so as relative ones.
bool passes(const NodeMeasure& measure) {
  return measure.trouble.empty() && measure.passing != Passing::unknown;
}

// Constants, shapes: what is made of no numbers of the network is rounded by whoever reads it, as a
// weight is.
bool is_constant(const NodeMeasure& measure) {
  return measure.trouble.empty() && measure.passing == Passing::none;
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

// The gain of the errors' mean squares: relative ones of networks that work do not grow from layer
// to layer.
double gain_of_square(const network::Network& network, const DumpMeasures& measures,
                      std::uint32_t number, const InputEffect& effect, double amplified) {
  const network::Node& node = network.nodes()[number];
  const double gain = effect.carried * effect.carried;
  if (is_amplified(measures.nodes[number], effect, amplified) || node.outputs[0] == kNoValue)
    return gain;
  return std::min(gain, ratio(measures, node.outputs[0], node.inputs[effect.input]));
}

// Ordinary roundings are many, and none of them is far above the others.
double sum_of_ordinary(std::vector<double>& squares) {
  constexpr double kPart = 0.8;  // of them are no more than an ordinary one
  constexpr double kAbove = 16;  // others are counted up to so many times that
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
  if (ends.size() > kMostOutputs)
    ends.erase(ends.begin(), ends.end() - static_cast<std::ptrdiff_t>(kMostOutputs));
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
    // Errors that cancel are taken for independent ones: they are less than it seems.
    const double most = kMostBefore * amplified_ * measure.rms;
    sum = std::min(sum, most * most);
    for (const std::uint32_t output : node.outputs)
      if (output != kNoValue) squares[output] = sum;
  }
}

void Sensitivity::follow_nearby() {
  constexpr std::size_t kNodes = 5;
  using ByAge = std::array<double, kNodes>;  // squares of errors that arose so many nodes before
  std::vector<ByAge> values(network_.values().size(), ByAge{});
  nearby_.assign(network_.nodes().size(), 0);
  for (std::uint32_t number = 0; number < network_.nodes().size(); ++number) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    if (!passes(measure)) continue;
    const std::size_t older = measure.passing == Passing::moved ? 0 : 1;
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

// What becomes integers is not followed: quantised layers.
void Sensitivity::find_unseen() {
  unseen_.assign(network_.values().size(), false);
  for (std::size_t number = network_.nodes().size(); number-- > 0;) {
    const network::Node& node = network_.nodes()[number];
    const NodeMeasure& measure = measures_.nodes[number];
    if (is_constant(measure)) continue;
    const bool followed = passes(measure) && measure.passing != Passing::moved;
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

// Squares of them; `grows`: relative errors may grow from layer to layer.
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
      // What is Inf in place of a number is an error of whoever reads it.
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
      const bool rounds = !wide && measure.passing != Passing::moved;
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

// Errors of networks grow, but not by all that first-order propagation makes of them: what comes to
// an output is between the two.
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
