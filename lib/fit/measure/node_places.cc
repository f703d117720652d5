#include <algorithm>
#include <memory>

#include "btf/dtype.h"
#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/lossy_inputs.h"
#include "fit/measure/node_effects.h"

namespace btf {
namespace {

struct PlacedInput {
  std::unique_ptr<PlacedNumbers> numbers;
  std::vector<double> exact = std::vector<double>(kFitRun);
  std::vector<double> narrow = std::vector<double>(kFitRun);
  std::size_t same = 0;              // the first input of the same value
  std::optional<Reading> reading{};  // of floats
  bool counts = false;               // it is floats, and that first input
  Effect effect{};                   // if so
  std::optional<Effect> nudged{};    // of a small error, where rounding is none
};

class NodePlaces {
 public:
  NodePlaces(NodeValues& values, const network::Operator& op)
      : values_(values), op_(op), dims_(op.outputs()[0].dims), placed_(op.places()) {}

  Status run(NodeMeasure& measure) {
    BTF_TRY(open_inputs());
    BTF_ASSIGN(std::vector<RunPlan::IsLossy> lossy, lossy_runs_of_all());
    BTF_TRY(RunPlan(elements_, kFitRun, std::move(lossy))
                .visit([this](std::uint64_t first, double weight) { return take(first, weight); }));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].counts) measure.inputs.push_back(effect_of(i));
    for (const InputEffect& effect : measure.inputs)
      measure.rms = std::max(measure.rms, effect.rms);
    return {};
  }

 private:
  Status open_inputs() {
    const std::vector<std::uint32_t>& names = values_.node().inputs;
    inputs_.resize(placed_.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      PlacedInput& input = inputs_[i];
      BTF_ASSIGN(Numbers* const found, values_.numbers(i));
      input.numbers = std::make_unique<PlacedNumbers>(*found, placed_[i], dims_);
      input.same = static_cast<std::size_t>(std::ranges::find(names, names[i]) - names.begin());
      if (!values_.is_float(i)) continue;
      input.reading.emplace(values_.input(i), values_.context().type, values_.infinite());
      input.counts = input.same == i;
      if (input.counts && is_lossy(values_.input(i))) input.nudged.emplace();
    }
    return {};
  }

  Result<std::vector<RunPlan::IsLossy>> lossy_runs_of_all() {
    std::vector<RunPlan::IsLossy> lossy;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!values_.is_float(i) || !is_lossy(values_.input(i))) continue;
      BTF_ASSIGN(Numbers* const found, values_.numbers(i));
      const LossyInput own{values_.input(i), *found, values_.context().type, values_.infinite()};
      BTF_ASSIGN(RunPlan::IsLossy one,
                 placed_[i] == dims_ ? lossy_runs(own) : lossy_places(own, *inputs_[i].numbers));
      lossy.push_back(std::move(one));
    }
    return lossy;
  }

  Status take(std::uint64_t first, double weight) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(kFitRun, elements_ - first));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      PlacedInput& input = inputs_[i];
      const auto run = std::span(input.exact).first(count);
      BTF_TRY(input.numbers->read(first, run));
      if (input.reading) input.reading->apply(first, run, input.narrow);
      given_[i] = run;
    }
    const auto right = std::span(right_).first(count);
    op_.at_places(given_, right);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      PlacedInput& input = inputs_[i];
      if (!input.counts) continue;
      input.effect.take(right, with_narrow(i, count), values_.context().type.limit(),
                        std::span(input.narrow).first(count), weight);
      if (!input.nudged) continue;
      for_same(i, [&](PlacedInput& one, auto&) {
        nudge(first, std::span(one.exact).first(count), nudge_step(), one.narrow);
      });
      input.nudged->take(right, with_narrow(i, count), HUGE_VAL, {}, weight);
    }
    return {};
  }

  // All places where the node reads the value that its input `i` is.
  template <typename Function>
  void for_same(std::size_t i, Function&& function) {
    for (std::size_t k = i; k < inputs_.size(); ++k)
      if (inputs_[k].same == i) function(inputs_[k], given_[k]);
  }

  // Results of a run where the device rounds this input, and no other.
  std::span<const double> with_narrow(std::size_t i, std::size_t count) {
    const auto off = std::span(off_).first(count);
    for_same(i, [&](const PlacedInput& one, auto& given) {
      given = std::span(one.narrow).first(count);
    });
    op_.at_places(given_, off);
    for_same(
        i, [&](const PlacedInput& one, auto& given) { given = std::span(one.exact).first(count); });
    return off;
  }

  InputEffect effect_of(std::size_t i) const {
    const ValueNoise& value = values_.input(i);
    InputEffect effect{.input = i, .noise = value.noise};
    inputs_[i].effect.write(effect);
    if (const double rms = value.measure.rms(); inputs_[i].nudged && rms > 0)
      effect.gain = inputs_[i].nudged->error() / (nudge_step() * rms);
    return effect;
  }

  double nudge_step() const { return kTypicalNoise * values_.context().type.unit_roundoff(); }

  NodeValues& values_;
  const network::Operator& op_;
  const Dims& dims_;
  std::vector<Dims> placed_;
  std::uint64_t elements_ = element_count(dims_).value_or(0);
  std::vector<PlacedInput> inputs_;
  std::vector<std::span<const double>> given_ =
      std::vector<std::span<const double>>(placed_.size());
  std::vector<double> right_ = std::vector<double>(kFitRun);
  std::vector<double> off_ = std::vector<double>(kFitRun);
};

}  // namespace

Status measure_places(NodeValues& values, const network::Operator& op, NodeMeasure& measure) {
  const network::Node& node = values.node();
  for (const std::uint32_t input : node.inputs)
    if (input != network::kNoValue && values.context().values[input].known)
      BTF_TRY(values.check(input));
  if (values.result().known) BTF_TRY(values.check(node.outputs[0]));
  if (!info(op.outputs()[0].dtype).floating()) return {};  // true or false: no error of it
  return NodePlaces(values, op).run(measure);
}

}  // namespace btf
