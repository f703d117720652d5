// Finds where in a node's result an input has numbers that rounding changes by more than a step.
#include "fit/node_effects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/try.h"
#include "fit/node_measure.h"

namespace btf {
namespace {

struct LossyInput {
  const ValueNoise& value;
  Numbers& numbers;  // its own
  const NarrowType& type;
  bool infinite = false;  // as for reading_limit()
};

bool reads_infinite(const LossyInput& input) {
  return input.infinite && input.value.infinite_from < HUGE_VAL;
}

Status visit_lossy(const LossyInput& input, const std::function<void(std::uint64_t)>& found) {
  const double limit = reading_limit(input.value, input.type, input.infinite);
  return input.numbers.each_run(kFitRun, [&](std::uint64_t first, std::span<const double> some) {
    for (std::size_t i = 0; i < some.size(); ++i)
      if (std::abs(some[i]) > limit || (some[i] != 0 && input.type.round(some[i]) == 0))
        found(first + i);
    return Status();
  });
}

// For an input with the dims of the result. `input.value` must outlive the returned function.
Result<RunPlan::IsLossy> lossy_runs(const LossyInput& input) {
  const LossyRuns& known = input.value.lossy;
  if (known.known() && !reads_infinite(input))
    return [&known](std::uint64_t begin, std::uint64_t end) { return known.any(begin, end); };
  const auto runs = std::make_shared<LossyRuns>(input.numbers.elements());
  BTF_TRY(visit_lossy(input, [&](std::uint64_t element) { runs->mark(element); }));
  return [runs](std::uint64_t begin, std::uint64_t end) { return runs->any(begin, end); };
}

// For an input that is broadcast. `placed` must outlive the returned function.
Result<RunPlan::IsLossy> lossy_places(const LossyInput& input, const PlacedNumbers& placed) {
  const auto marked = std::make_shared<std::vector<bool>>(input.numbers.elements());
  BTF_TRY(visit_lossy(input, [&](std::uint64_t element) { (*marked)[element] = true; }));
  return [marked, &placed](std::uint64_t begin, std::uint64_t end) {
    return placed.any(begin, end, *marked);
  };
}

constexpr std::uint64_t kGroupsRun = 512;  // numbers of groups that are taken together
// The work for a number of a group that is not summed up: exponentials and the like.
constexpr std::uint64_t kWorkOfGrouped = 24;

class NodeGroups {
 public:
  NodeGroups(NodeValues& values, const network::Operator& op, const network::Groups& groups,
             Numbers& numbers)
      : values_(values),
        op_(op),
        groups_(groups),
        numbers_(numbers),
        type_(values.context().type),
        reading_(values.input(0), type_, values.infinite()) {}

  Status run(NodeMeasure& measure) {
    measure.averages = op_.one_of_group();
    BTF_ASSIGN(std::vector<RunPlan::IsLossy> lossy, lossy_parts());
    // Some groups at a time; if a group's numbers are contiguous, so are those of all of them.
    const std::uint64_t together =
        std::max<std::uint64_t>(1, kGroupsRun / std::max<std::uint64_t>(1, size_));
    const std::uint64_t work = op_.sums_up() ? 1 : kWorkOfGrouped;
    BTF_TRY(RunPlan(count_ * size_, std::max<std::uint64_t>(1, together * size_), work,
                    std::move(lossy))
                .visit([&](std::uint64_t first, double weight) -> Status {
                  const std::uint64_t begin = first / size_;
                  for (std::uint64_t g = begin; g < std::min(begin + together, count_); ++g) {
                    measure.work += work * size_;
                    BTF_TRY(take(g, weight));
                  }
                  return {};
                }));
    write(measure);
    return {};
  }

 private:
  Result<std::vector<RunPlan::IsLossy>> lossy_parts() {
    std::vector<RunPlan::IsLossy> lossy;
    if (!is_lossy(values_.input(0))) return lossy;
    const bool in_a_row = count_ > 0 && groups_.element(0, size_ - 1) == size_ - 1 &&
                          (count_ == 1 || groups_.element(1, 0) == size_);
    if (!in_a_row) {
      lossy.emplace_back([](std::uint64_t, std::uint64_t) { return true; });
      return lossy;
    }
    BTF_ASSIGN(RunPlan::IsLossy one,
               lossy_runs({values_.input(0), numbers_, type_, values_.infinite()}));
    lossy.push_back(std::move(one));
    return lossy;
  }

  Status take(std::uint64_t group, double weight) {
    BTF_ASSIGN(const network::GroupInside inside, op_.sums_up() ? of_sums(group) : of_all(group));
    effect_.take(right_, off_, type_.limit(), {}, weight);
    if (std::isfinite(inside.largest)) inside_ = std::max(inside_, inside.largest);
    if (inside.variance > 0 && std::isfinite(inside.variance)) {
      const double error = inside.narrow_variance / inside.variance - 1;
      variance_errors_ += weight * error * error;
      variances_ += weight;
    }
    return {};
  }

  Result<network::GroupInside> of_sums(std::uint64_t group) {
    network::GroupSums sums;
    const std::size_t most = exact_.size();
    std::uint64_t at = group * size_;
    BTF_TRY(for_each_run(group, [&](Run run) -> Status {
      while (run.count > 0) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(run.count, most));
        const auto exact = std::span(exact_).first(count);
        const auto narrow = std::span(narrow_).first(count);
        BTF_TRY(numbers_.read(run.first, run.step, exact));
        reading_.apply(at, exact, narrow);
        op_.add_to(sums, {exact, narrow});
        run = {run.first + count * run.step, run.step, run.count - count};
        at += count;
      }
      return {};
    }));
    return op_.of_sums(sums, {right_, off_});
  }

  Result<network::GroupInside> of_all(std::uint64_t group) {
    std::size_t at = 0;
    BTF_TRY(for_each_run(group, [&](const Run& run) -> Status {
      const auto count = static_cast<std::size_t>(run.count);
      BTF_TRY(numbers_.read(run.first, run.step, std::span(exact_).subspan(at, count)));
      at += count;
      return {};
    }));
    reading_.apply(group * size_, exact_, narrow_);
    op_.of_group(exact_, right_);
    op_.of_group(narrow_, off_);
    return op_.inside(exact_, [this](double x) { return type_.round(x); });
  }

  // Elements of a group that are `step` apart.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t step = 1;
    std::uint64_t count = 0;
  };

  template <typename Take>
  Status for_each_run(std::uint64_t group, Take&& take) const {
    Status status;
    groups_.for_each_run(group, [&](std::uint64_t first, std::uint64_t step, std::uint64_t count) {
      status = take(Run{first, step, count});
      return status.has_value();
    });
    return status;
  }

  void write(NodeMeasure& measure) const {
    measure.inside = inside_;
    if (variances_ > 0) measure.variance_error = std::sqrt(variance_errors_ / variances_);
    InputEffect effect{.input = 0, .noise = values_.input(0).noise};
    effect_.write(effect);
    measure.rms = effect.rms;
    // Scales and biases change the magnitude of the results.
    if (values_.result().known && !op_.one_of_group() && measure.rms > 0) {
      const double rms = values_.result().measure.rms();
      effect.error *= rms / measure.rms;
      effect.gain *= rms / measure.rms;
      measure.rms = rms;
    }
    measure.inputs.push_back(effect);
  }

  NodeValues& values_;
  const network::Operator& op_;
  const network::Groups& groups_;
  Numbers& numbers_;
  const NarrowType& type_;
  Reading reading_;
  std::uint64_t size_ = groups_.size();
  std::uint64_t count_ = size_ == 0 ? 0 : numbers_.elements() / size_;
  // The numbers of a group, or as many of them as are added up at once.
  std::vector<double> exact_ =
      std::vector<double>(op_.sums_up() ? std::min<std::uint64_t>(size_, 8 * kFitRun) : size_);
  std::vector<double> narrow_ = std::vector<double>(exact_.size());
  std::vector<double> right_ = std::vector<double>(op_.one_of_group() ? 1 : size_);
  std::vector<double> off_ = std::vector<double>(right_.size());
  Effect effect_;
  double inside_ = 0;
  double variances_ = 0;
  double variance_errors_ = 0;
};

}  // namespace

Status measure_groups(NodeValues& values, const network::Operator& op, NodeMeasure& measure) {
  const network::Groups* const groups = op.groups();
  BTF_ASSIGN(Numbers* const found, values.numbers(0));
  if (groups == nullptr || !values.is_float(0)) return {};
  return NodeGroups(values, op, *groups, *found).run(measure);
}

namespace {

struct PlacedInput {
  std::unique_ptr<PlacedNumbers> numbers;
  std::vector<double> exact = std::vector<double>(kFitRun);
  std::vector<double> narrow = std::vector<double>(kFitRun);
  std::size_t same = 0;              // the first input that is the same value
  std::optional<Reading> reading{};  // if it has floats
  bool counts = false;               // it has floats and is that first input
  Effect effect{};                   // if it counts
  std::optional<Effect> nudged{};    // the effect of a small error, if rounding makes larger ones
};

class NodePlaces {
 public:
  NodePlaces(NodeValues& values, const network::Operator& op)
      : values_(values), op_(op), dims_(op.outputs()[0].dims), placed_(op.places()) {}

  Status run(NodeMeasure& measure) {
    BTF_TRY(open_inputs());
    BTF_ASSIGN(std::vector<RunPlan::IsLossy> lossy, lossy_runs_of_all());
    const std::uint64_t work = work_of_number();
    if (work > kWorkOfNode / kFitRun)
      return fail(ErrorCode::unsupported,
                  "it reads " + std::to_string(inputs_.size()) + " values, too many to try each");
    BTF_TRY(RunPlan(elements_, kFitRun, work, std::move(lossy))
                .visit([&](std::uint64_t first, double weight) {
                  measure.work += work * std::min<std::uint64_t>(kFitRun, elements_ - first);
                  return take(first, weight);
                }));
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

  // Each result is computed from all inputs, once as they are, and once or twice for each.
  std::uint64_t work_of_number() const {
    std::uint64_t times = 1;
    for (const PlacedInput& input : inputs_)
      times += (input.counts ? 1U : 0U) + (input.nudged ? 1U : 0U);
    return times * std::max<std::uint64_t>(1, inputs_.size());
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

  // Calls the function for each input that is the same value as input `i`.
  template <typename Function>
  void for_same(std::size_t i, Function&& function) {
    for (std::size_t k = i; k < inputs_.size(); ++k)
      if (inputs_[k].same == i) function(inputs_[k], given_[k]);
  }

  // Results of a run with this input rounded, and no other.
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
  if (!info(op.outputs()[0].dtype).floating()) return {};  // errors of bools are not defined
  return NodePlaces(values, op).run(measure);
}

}  // namespace btf
