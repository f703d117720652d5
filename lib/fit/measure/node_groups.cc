#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "fit/measure/effect.h"
#include "fit/measure/lossy_inputs.h"
#include "fit/measure/node_effects.h"

namespace btf {
namespace {

constexpr std::uint64_t kGroupsRun = 512;  // numbers of groups that are looked at together

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
    // Some groups at a time, whose numbers stand one behind the other where those of a group do.
    const std::uint64_t together =
        std::max<std::uint64_t>(1, kGroupsRun / std::max<std::uint64_t>(1, size_));
    BTF_TRY(RunPlan(count_ * size_, std::max<std::uint64_t>(1, together * size_), std::move(lossy))
                .visit([&](std::uint64_t first, double weight) -> Status {
                  const std::uint64_t begin = first / size_;
                  for (std::uint64_t g = begin; g < std::min(begin + together, count_); ++g)
                    BTF_TRY(take(g, weight));
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
    BTF_TRY(gather(group));
    reading_.apply(group * size_, exact_, narrow_);
    op_.of_group(exact_, right_);
    op_.of_group(narrow_, off_);
    effect_.take(right_, off_, type_.limit(), {}, weight);
    const network::GroupInside inside =
        op_.inside(exact_, [this](double x) { return type_.round(x); });
    if (std::isfinite(inside.largest)) inside_ = std::max(inside_, inside.largest);
    if (inside.variance > 0 && std::isfinite(inside.variance)) {
      const double error = inside.narrow_variance / inside.variance - 1;
      variance_errors_ += weight * error * error;
      variances_ += weight;
    }
    return {};
  }

  Status gather(std::uint64_t group) {
    const std::uint64_t first = groups_.element(group, 0);
    if (groups_.element(group, size_ - 1) - first == size_ - 1) return numbers_.read(first, exact_);
    for (std::uint64_t which = 0; which < size_; ++which)
      BTF_TRY(numbers_.read(groups_.element(group, which), std::span(exact_).subspan(which, 1)));
    return {};
  }

  void write(NodeMeasure& measure) const {
    measure.inside = inside_;
    if (variances_ > 0) measure.variance_error = std::sqrt(variance_errors_ / variances_);
    InputEffect effect{.input = 0, .noise = values_.input(0).noise};
    effect_.write(effect);
    measure.rms = effect.rms;
    // What scales and biases make of it.
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
  std::vector<double> exact_ = std::vector<double>(size_);
  std::vector<double> narrow_ = std::vector<double>(size_);
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

}  // namespace btf
