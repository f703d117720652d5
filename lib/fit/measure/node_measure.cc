#include "fit/measure/node_measure.h"

#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/node_effects.h"
#include "fit/measure/node_values.h"
#include "network/evaluation.h"

namespace btf {
namespace {

using network::Operator;
using network::Passing;

// Numbers of which single products are computed.
constexpr double kMostProducts = 1U << 14;
constexpr double kLeastResults = 16;
constexpr double kManyResults = 64;

// Dims of 1 may be left out of a dump, or all of them be written as one.
bool are_alike(const Dims& dumped, const Dims& made) {
  const auto without_ones = [](Dims dims) {
    std::erase(dims, 1U);
    return dims;
  };
  return without_ones(dumped) == without_ones(made) ||
         (dumped.size() == 1 && element_count(dumped) == element_count(made));
}

class NodeMeasuring {
 public:
  NodeMeasuring(const NodeContext& context, std::uint32_t number, bool infinite)
      : context_(context),
        node_(context.network.nodes()[number]),
        values_(context, number, infinite),
        evaluation_(context.network, stored_in(context.dump), kMostTerms),
        number_(number) {}

  Status run(NodeMeasure& measure) {
    const auto* const row =
        network::find_operator(node_.op, node_.domain, context_.network.version(node_.domain));
    if (row == nullptr || row->passing == Passing::unknown)
      return fail(ErrorCode::unsupported,
                  "what '" + node_.op + "' does to errors is not known here");
    measure.passing = row->passing;
    if (!context_.network.is_sound(number_))
      return network::not_computed(context_.network.why_unsound(number_));
    if (row->passing == Passing::none) return {};
    const Result<Operator*> made = evaluation_.made_operator(number_);
    if (evaluation_.unread()) return std::unexpected(*evaluation_.unread());
    if (made) BTF_TRY(check_dims(**made));
    if (row->passing == Passing::moved) return moved(measure);
    if (row->passing == Passing::joined) return joined(measure);
    BTF_ASSIGN(op_, made);
    switch (row->passing) {
      case Passing::places:
        return measure_places(values_, *op_, measure);
      case Passing::groups:
        return measure_groups(values_, *op_, measure);
      case Passing::products:
        return products(measure);
      default:
        return windows(measure);
    }
  }

 private:
  // An error if a result was dumped with other dims than the node's inputs give it.
  Status check_dims(const Operator& op) const {
    for (std::size_t i = 0; i < std::min(op.outputs().size(), node_.outputs.size()); ++i) {
      const std::uint32_t output = node_.outputs[i];
      const DumpedTensor* const dumped =
          output == network::kNoValue ? nullptr : context_.dump.find(output);
      if (dumped == nullptr) continue;
      const auto stored = context_.dump.open(*dumped);
      if (!stored && is_of_reading(stored.error())) return std::unexpected(stored.error());
      if (!stored || are_alike(stored->tensor().dims, op.outputs()[i].dims)) continue;
      return fail(ErrorCode::refused, "'" + context_.network.values()[output].name +
                                          "' was dumped as " + dims_text(stored->tensor().dims) +
                                          ", and its inputs as dumped give " +
                                          dims_text(op.outputs()[i].dims));
    }
    return {};
  }

  Status moved(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(1));
    measure.rms = values_.result().measure.rms();
    if (values_.is_float(0))
      measure.inputs.push_back({.input = 0,
                                .noise = values_.input(0).noise,
                                .error = values_.input(0).noise,
                                .passes_on = true});
    return {};
  }

  Status joined(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(node_.inputs.size()));
    measure.rms = values_.result().measure.rms();
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!values_.is_float(i)) continue;
      const auto all = static_cast<double>(values_.result().measure.elements);
      const double part =
          all > 0 ? std::sqrt(static_cast<double>(values_.input(i).measure.elements) / all) : 0;
      measure.inputs.push_back({.input = i,
                                .noise = values_.input(i).noise,
                                .error = values_.input(i).noise * part,
                                .gain = part,
                                .passes_on = true});
    }
    return {};
  }

  // Rounding errors of inputs are independent of one another.
  Status products(NodeMeasure& measure) {
    BTF_TRY(values_.check_known(node_.inputs.size()));
    measure.rms = values_.result().measure.rms();
    measure.terms = op_->terms();
    const std::optional<double> growth = growth_in_sums();
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!values_.is_float(i)) continue;
      const double own = values_.input(i).measure.rms();
      double gain = 1;
      if (multiplies(node_, i) && own > 0)
        gain = growth ? *growth * measure.rms / own
                      : std::sqrt(op_->terms()) * other_factors(context_.values, node_, i);
      const double noise = values_.input(i).noise;
      measure.inputs.push_back({.input = i, .noise = noise, .error = noise * gain, .gain = gain});
    }
    return {};
  }

  // How many times larger the relative error of a sum of products is than that of one operand's
  // numbers, root mean square over some of the results: many where terms cancel. Nothing: they
  // cannot be computed, or the operands would have to be, whose errors came in.
  std::optional<double> growth_in_sums() {
    for (const std::uint32_t input : node_.inputs)
      if (input != network::kNoValue && context_.dump.find(input) == nullptr &&
          !context_.network.values()[input].weight)
        return std::nullopt;
    constexpr double kStep = 0x1p-6;  // so large that nothing else matters
    constexpr double kBounds = 4;     // an estimate of independent errors is so many times them
    const std::uint64_t all = values_.result().measure.elements;
    const double terms = std::max(1.0, op_->terms());
    const auto wanted =
        static_cast<std::uint64_t>(std::clamp(kMostProducts / terms, kLeastResults, kManyResults));
    const std::uint64_t count = std::min(all, wanted);
    evaluation_.set({.operand = kStep, .result = 0, .accumulator = 0});
    const auto op = evaluation_.made_operator(number_);
    double errors = 0;
    double squares = 0;
    for (std::uint64_t i = 0; op && i < count; ++i) {
      const network::Estimate found = (*op)->element(0, picked(i, count, all));
      if (!std::isfinite(found.value) || !std::isfinite(found.error)) continue;
      errors += found.error * found.error;
      squares += found.value * found.value;
    }
    evaluation_.set({});
    if (!op || squares == 0 || !evaluation_.effort().trouble.empty()) return std::nullopt;
    return std::sqrt(errors / squares / 2) / (kBounds * kStep);
  }

  Status windows(NodeMeasure& measure) const {
    BTF_TRY(values_.check_known(1));
    const double terms = op_->terms();
    measure.averages = true;
    measure.inside = values_.result().measure.largest * terms;
    measure.rms = values_.result().measure.rms();
    measure.inputs.push_back({.input = 0,
                              .noise = values_.input(0).noise,
                              .error = values_.input(0).noise / std::sqrt(terms),
                              .gain = 1 / std::sqrt(terms)});
    return {};
  }

  const NodeContext& context_;
  const network::Node& node_;
  NodeValues values_;
  network::Evaluation evaluation_;
  std::uint32_t number_;
  Operator* op_ = nullptr;
};

}  // namespace

bool multiplies(const network::Node& node, std::size_t input) {
  return input < 2 || node.op == "Einsum";
}

double other_factors(const std::vector<ValueNoise>& values, const network::Node& node,
                     std::size_t input) {
  double product = 1;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (i != input && multiplies(node, i) && node.inputs[i] != network::kNoValue)
      product *= values[node.inputs[i]].measure.rms();
  return product;
}

NodeMeasure measure_node(const NodeContext& context, std::uint32_t node, bool infinite) {
  NodeMeasure measure;
  const Status done = NodeMeasuring(context, node, infinite).run(measure);
  if (!done) measure.trouble = done.error().text();
  finish_effects(context, node, measure);
  return measure;
}

void finish_effects(const NodeContext& context, std::uint32_t node, NodeMeasure& measure) {
  const network::Node& own = context.network.nodes()[node];
  for (InputEffect& effect : measure.inputs) {
    const double rms = context.values[own.inputs[effect.input]].measure.rms();
    const double ratio = rms > 0 ? measure.rms / rms : 1;
    if (effect.noise == 0 && !effect.passes_on) effect.gain = ratio;  // it is not seen
    effect.carried = measure.averages ? std::max(effect.gain, ratio) : effect.gain;
  }
}

}  // namespace btf
