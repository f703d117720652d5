#include "fit/measure/node_measure.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/lossy_inputs.h"
#include "network/evaluation.h"

namespace btf {
namespace {

using network::Operator;
using network::Passing;

constexpr std::uint64_t kMostComputed = 1U << 16;  // numbers of one
// Numbers of which single products are computed.
constexpr double kMostProducts = 1U << 14;
constexpr double kLeastResults = 16;
constexpr double kManyResults = 64;
constexpr std::uint64_t kGroupsRun = 512;  // numbers of groups that are looked at together

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
        infinite_(infinite),
        node_(context.network.nodes()[number]),
        evaluation_(context.network, stored_in(context.dump), kMostTerms),
        number_(number) {}

  Status run(NodeMeasure& measure) {
    const auto* const row =
        network::find_operator(node_.op, node_.domain, context_.network.version(node_.domain));
    if (row == nullptr || row->passing == Passing::unknown)
      return fail(ErrorCode::unsupported,
                  "what '" + node_.op + "' does to errors is not known here");
    measure.passing = row->passing;
    if (row->passing == Passing::none) return {};
    const Result<Operator*> made = evaluation_.made_operator(number_);
    if (made) BTF_TRY(check_dims(**made));
    if (row->passing == Passing::moved) return moved(measure);
    if (row->passing == Passing::joined) return joined(measure);
    BTF_ASSIGN(op_, made);
    switch (row->passing) {
      case Passing::places:
        return places(measure);
      case Passing::groups:
        return groups(measure);
      case Passing::products:
        return products(measure);
      default:
        return windows(measure);
    }
  }

 private:
  const ValueNoise& value(std::size_t input) const { return context_.values[node_.inputs[input]]; }
  const ValueNoise& result() const { return context_.values[node_.outputs[0]]; }
  bool is_float(std::size_t input) const {
    return input < node_.inputs.size() && node_.inputs[input] != network::kNoValue &&
           value(input).floating;
  }

  std::unexpected<Error> not_there(std::uint32_t value) const {
    return fail(ErrorCode::refused,
                "'" + context_.network.values()[value].name + "' was not dumped");
  }

  // An error if a result was dumped with other dims than the node's inputs give it.
  Status check_dims(const Operator& op) const {
    for (std::size_t i = 0; i < std::min(op.outputs().size(), node_.outputs.size()); ++i) {
      const std::uint32_t output = node_.outputs[i];
      const DumpedTensor* const dumped =
          output == network::kNoValue ? nullptr : context_.dump.find(output);
      if (dumped == nullptr) continue;
      const auto stored = context_.dump.open(*dumped);
      if (!stored || are_alike(stored->tensor().dims, op.outputs()[i].dims)) continue;
      return fail(ErrorCode::refused, "'" + context_.network.values()[output].name +
                                          "' was dumped as " + dims_text(stored->tensor().dims) +
                                          ", and its inputs as dumped give " +
                                          dims_text(op.outputs()[i].dims));
    }
    return {};
  }

  // An error if one of the first inputs, or the result, has not been measured.
  Status check_known(std::size_t inputs) const {
    for (std::size_t i = 0; i < std::min(inputs, node_.inputs.size()); ++i)
      if (node_.inputs[i] != network::kNoValue) BTF_TRY(check_value(node_.inputs[i]));
    if (node_.outputs.empty() || node_.outputs[0] == network::kNoValue)
      return fail(ErrorCode::refused, "its result has no name");
    return check_value(node_.outputs[0]);
  }

  Status check_value(std::uint32_t value) const {
    const ValueNoise& own = context_.values[value];
    if (!own.known) return not_there(value);
    if (own.floating && own.measure.elements > 0 && own.measure.nan == own.measure.elements)
      return fail(ErrorCode::refused, "'" + context_.network.values()[value].name + "' is all NaN");
    return {};
  }

  Status moved(NodeMeasure& measure) const {
    BTF_TRY(check_known(1));
    measure.rms = result().measure.rms();
    if (is_float(0))
      measure.inputs.push_back(
          {.input = 0, .noise = value(0).noise, .error = value(0).noise, .passes_on = true});
    return {};
  }

  Status joined(NodeMeasure& measure) const {
    BTF_TRY(check_known(node_.inputs.size()));
    measure.rms = result().measure.rms();
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!is_float(i)) continue;
      const auto all = static_cast<double>(result().measure.elements);
      const double part =
          all > 0 ? std::sqrt(static_cast<double>(value(i).measure.elements) / all) : 0;
      measure.inputs.push_back({.input = i,
                                .noise = value(i).noise,
                                .error = value(i).noise * part,
                                .gain = part,
                                .passes_on = true});
    }
    return {};
  }

  // Rounding errors of inputs are independent of one another.
  Status products(NodeMeasure& measure) {
    BTF_TRY(check_known(node_.inputs.size()));
    measure.rms = result().measure.rms();
    measure.terms = op_->terms();
    const std::optional<double> growth = growth_in_sums();
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!is_float(i)) continue;
      const double own = value(i).measure.rms();
      double gain = 1;
      if (i < 2 && own > 0) {
        const double other = value(1 - i).measure.rms();
        gain = growth ? *growth * measure.rms / own : std::sqrt(op_->terms()) * other;
      }
      const double noise = value(i).noise;
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
    const std::uint64_t all = result().measure.elements;
    const double terms = std::max(1.0, op_->terms());
    const auto wanted =
        static_cast<std::uint64_t>(std::clamp(kMostProducts / terms, kLeastResults, kManyResults));
    const std::uint64_t count = std::min(all, wanted);
    evaluation_.set({.operand = kStep, .result = 0, .accumulator = 0});
    const auto op = evaluation_.made_operator(number_);
    double errors = 0;
    double squares = 0;
    for (std::uint64_t i = 0; op && i < count; ++i) {
      // Apart from one another by no divisor of the dims.
      const std::uint64_t number = (i * (all / count) + mixed(i) % (all / count)) % all;
      const network::Estimate found = (*op)->element(0, number);
      if (!std::isfinite(found.value) || !std::isfinite(found.error)) continue;
      errors += found.error * found.error;
      squares += found.value * found.value;
    }
    evaluation_.set({});
    if (!op || squares == 0 || !evaluation_.effort().trouble.empty()) return std::nullopt;
    return std::sqrt(errors / squares / 2) / (kBounds * kStep);
  }

  Status windows(NodeMeasure& measure) const {
    BTF_TRY(check_known(1));
    const double terms = op_->terms();
    measure.averages = true;
    measure.inside = result().measure.largest * terms;
    measure.rms = result().measure.rms();
    measure.inputs.push_back({.input = 0,
                              .noise = value(0).noise,
                              .error = value(0).noise / std::sqrt(terms),
                              .gain = 1 / std::sqrt(terms)});
    return {};
  }

  Result<Numbers*> numbers(std::size_t input) {
    const std::uint32_t which = node_.inputs[input];
    if (const auto known = opened_.find(which); known != opened_.end()) return &known->second;
    BTF_ASSIGN(std::optional<Numbers> found, open_numbers(context_.network, context_.dump, which));
    if (!found) return not_there(which);
    return &opened_.emplace(which, *std::move(found)).first->second;
  }

  Status places(NodeMeasure& measure) {
    for (const std::uint32_t input : node_.inputs)
      if (input != network::kNoValue && context_.values[input].known) BTF_TRY(check_value(input));
    if (result().known) BTF_TRY(check_value(node_.outputs[0]));
    if (!info(op_->outputs()[0].dtype).floating()) return {};  // true or false: no error of it
    const Dims& dims = op_->outputs()[0].dims;
    const std::vector<Dims> placed = op_->places();
    struct Input {
      std::unique_ptr<PlacedNumbers> numbers;
      std::vector<double> exact = std::vector<double>(kFitRun);
      std::vector<double> narrow = std::vector<double>(kFitRun);
      std::optional<Reading> reading{};  // of floats
      std::optional<std::size_t> effect{};
      std::size_t same = 0;  // the first input of the same value
      std::optional<Effect> nudged{};
    };
    std::vector<Input> inputs(placed.size());
    std::vector<Effect> effects;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      BTF_ASSIGN(Numbers* const found, numbers(i));
      inputs[i].numbers = std::make_unique<PlacedNumbers>(*found, placed[i], dims);
      inputs[i].same = static_cast<std::size_t>(std::ranges::find(node_.inputs, node_.inputs[i]) -
                                                node_.inputs.begin());
      if (!is_float(i)) continue;
      inputs[i].reading.emplace(value(i), context_.type, infinite_);
      if (inputs[i].same < i) continue;
      inputs[i].effect = effects.size();
      effects.emplace_back();
      if (is_lossy(value(i))) inputs[i].nudged.emplace();
      measure.inputs.push_back({.input = i, .noise = value(i).noise});
    }
    std::vector<double> exact(kFitRun);
    std::vector<double> narrow(kFitRun);
    std::vector<std::span<const double>> given(inputs.size());
    const std::uint64_t all = element_count(dims).value_or(0);
    const auto take = [&](std::uint64_t first, double weight) -> Status {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, all - first));
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        Input& input = inputs[i];
        const auto run = std::span(input.exact).first(count);
        BTF_TRY(input.numbers->read(first, run));
        if (input.reading) input.reading->apply(first, run, input.narrow);
        given[i] = run;
      }
      const auto right = std::span(exact).first(count);
      const auto off = std::span(narrow).first(count);
      op_->at_places(given, right);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].effect) continue;
        const auto exchange = [&](bool rounded) {
          for (std::size_t k = i; k < inputs.size(); ++k)
            if (inputs[k].same == i)
              given[k] = std::span<const double>(rounded ? inputs[k].narrow : inputs[k].exact)
                             .first(count);
        };
        exchange(true);
        op_->at_places(given, off);
        exchange(false);
        effects[*inputs[i].effect].take(right, off, context_.type.limit(),
                                        std::span(inputs[i].narrow).first(count), weight);
        if (!inputs[i].nudged) continue;
        for (std::size_t k = i; k < inputs.size(); ++k)
          if (inputs[k].same == i)
            nudge(first, std::span<const double>(inputs[k].exact).first(count), nudge_step(),
                  inputs[k].narrow);
        exchange(true);
        op_->at_places(given, off);
        exchange(false);
        inputs[i].nudged->take(right, off, HUGE_VAL, {}, weight);
      }
      return {};
    };
    std::vector<RunPlan::IsLossy> lossy;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_float(i) || !is_lossy(value(i))) continue;
      BTF_ASSIGN(Numbers* const found, numbers(i));
      const LossyInput own{value(i), *found, context_.type, infinite_};
      BTF_ASSIGN(RunPlan::IsLossy one,
                 placed[i] == dims ? lossy_runs(own) : lossy_places(own, *inputs[i].numbers));
      lossy.push_back(std::move(one));
    }
    BTF_TRY(RunPlan(all, kFitRun, std::move(lossy)).visit(take));
    for (std::size_t e = 0; e < effects.size(); ++e) {
      effects[e].write(measure.inputs[e]);
      measure.rms = std::max(measure.rms, measure.inputs[e].rms);
    }
    for (const Input& input : inputs) {
      if (!input.nudged) continue;
      InputEffect& effect = measure.inputs[*input.effect];
      const double rms = value(effect.input).measure.rms();
      if (rms > 0) effect.gain = input.nudged->error() / (nudge_step() * rms);
    }
    return {};
  }

  double nudge_step() const { return kTypicalNoise * context_.type.unit_roundoff(); }

  Status groups(NodeMeasure& measure) {
    const network::Groups* const groups = op_->groups();
    BTF_ASSIGN(Numbers* const found, numbers(0));
    if (groups == nullptr || !is_float(0)) return {};
    measure.averages = op_->one_of_group();
    const std::uint64_t size = groups->size();
    const std::uint64_t count = size == 0 ? 0 : found->elements() / size;
    std::vector<double> exact(size);
    std::vector<double> narrow(size);
    std::vector<double> right(op_->one_of_group() ? 1 : size);
    std::vector<double> off(right.size());
    const Reading reading(value(0), context_.type, infinite_);
    const network::RoundNumber round = [this](double x) { return context_.type.round(x); };
    Effect effect;
    double variances = 0;
    double variance_errors = 0;
    const auto take_group = [&](std::uint64_t group, double weight) -> Status {
      BTF_TRY(gather(*found, *groups, group, exact));
      reading.apply(group * size, exact, narrow);
      op_->of_group(exact, right);
      op_->of_group(narrow, off);
      effect.take(right, off, context_.type.limit(), {}, weight);
      const network::GroupInside inside = op_->inside(exact, round);
      if (std::isfinite(inside.largest)) measure.inside = std::max(measure.inside, inside.largest);
      if (inside.variance > 0 && std::isfinite(inside.variance)) {
        const double error = inside.narrow_variance / inside.variance - 1;
        variance_errors += weight * error * error;
        variances += weight;
      }
      return {};
    };
    // Some groups at a time, whose numbers stand one behind the other where those of a group do.
    const std::uint64_t together =
        std::max<std::uint64_t>(1, kGroupsRun / std::max<std::uint64_t>(1, size));
    const bool in_a_row = count > 0 && groups->element(0, size - 1) == size - 1 &&
                          (count == 1 || groups->element(1, 0) == size);
    std::vector<RunPlan::IsLossy> lossy;
    if (is_lossy(value(0)) && in_a_row) {
      BTF_ASSIGN(RunPlan::IsLossy one, lossy_runs({value(0), *found, context_.type, infinite_}));
      lossy.push_back(std::move(one));
    } else if (is_lossy(value(0))) {
      lossy.emplace_back([](std::uint64_t, std::uint64_t) { return true; });
    }
    BTF_TRY(RunPlan(count * size, std::max<std::uint64_t>(1, together * size), std::move(lossy))

                .visit([&](std::uint64_t first, double weight) -> Status {
                  const std::uint64_t begin = first / size;
                  for (std::uint64_t group = begin; group < std::min(begin + together, count);
                       ++group)
                    BTF_TRY(take_group(group, weight));
                  return {};
                }));
    if (variances > 0) measure.variance_error = std::sqrt(variance_errors / variances);
    measure.inputs.push_back({.input = 0, .noise = value(0).noise});
    effect.write(measure.inputs[0]);
    measure.rms = measure.inputs[0].rms;
    // What scales and biases make of it.
    if (result().known && !op_->one_of_group() && measure.rms > 0) {
      const double rms = result().measure.rms();
      measure.inputs[0].error *= rms / measure.rms;
      measure.inputs[0].gain *= rms / measure.rms;
      measure.rms = rms;
    }
    return {};
  }

  static Status gather(Numbers& numbers, const network::Groups& groups, std::uint64_t group,
                       std::span<double> into) {
    const std::uint64_t size = into.size();
    const std::uint64_t first = groups.element(group, 0);
    if (groups.element(group, size - 1) - first == size - 1) return numbers.read(first, into);
    for (std::uint64_t which = 0; which < size; ++which)
      BTF_TRY(numbers.read(groups.element(group, which), into.subspan(which, 1)));
    return {};
  }

  const NodeContext& context_;
  bool infinite_;  // inputs have Inf from before
  const network::Node& node_;
  network::Evaluation evaluation_;
  std::uint32_t number_;
  Operator* op_ = nullptr;
  std::map<std::uint32_t, Numbers> opened_;
};

}  // namespace

Result<std::optional<Numbers>> open_numbers(const network::Network& network, const Dump& dump,
                                            std::uint32_t value) {
  if (const DumpedTensor* const dumped = dump.find(value)) {
    BTF_ASSIGN(network::StoredNumbers stored, dump.open(*dumped));
    return std::optional<Numbers>(std::in_place, std::move(stored));
  }
  if (network.values()[value].weight) {
    BTF_ASSIGN(network::StoredNumbers stored, network.weight(network.values()[value]));
    return std::optional<Numbers>(std::in_place, std::move(stored));
  }
  network::Evaluation evaluation(network, stored_in(dump), kMostTerms);
  const auto tensor = evaluation.computed(value);
  if (!tensor || (*tensor)->elements() > kMostComputed) return std::nullopt;
  std::vector<double> numbers((*tensor)->elements());
  for (std::uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = (*tensor)->value(i);
  if (!evaluation.effort().trouble.empty()) return std::nullopt;
  return std::optional<Numbers>(std::in_place, std::move(numbers), (*tensor)->dims(),
                                (*tensor)->dtype());
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
