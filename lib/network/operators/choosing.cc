#include "network/operators/choosing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "network/operators/rows.h"

namespace btf::network {
namespace {

// The index of the best, and how far an index may be from it whose number is as good within its
// error.
class ArgBest final : public Operator {
 public:
  ArgBest(Tensor& x, Dims dims, Groups groups, bool largest, bool last)
      : Operator({std::move(dims), DType::int64}),
        x_(x),
        groups_(std::move(groups)),
        sign_(largest ? 1 : -1),
        last_(last) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    std::uint64_t best = 0;
    Estimate most{-std::numeric_limits<double>::infinity(), 0};
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(number, which));
      const double value = sign_ * x.value;
      if (value > most.value || (last_ && value == most.value) || which == 0) {
        best = which;
        most = {value, x.error};
      }
    }
    double reach = 0;
    for (std::uint64_t which = 0; most.error > 0 && which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(number, which));
      // Equal numbers have an order.
      if (sign_ * x.value < most.value && sign_ * x.value + x.error >= most.value - most.error)
        reach = std::max(reach, std::abs(static_cast<double>(which) - static_cast<double>(best)));
    }
    return {static_cast<double>(best), reach};
  }

 private:
  Tensor& x_;
  Groups groups_;
  double sign_;
  bool last_;
};

MadeOperator make_arg(const Call& call, bool largest) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), x->rank()));
  BTF_TRY(check_terms(x->dims()[axis]));
  std::vector<bool> taken(x->rank(), false);
  taken[axis] = true;
  Dims dims = x->dims();
  if (call.integer("keepdims", 1) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return std::make_unique<ArgBest>(*x, std::move(dims), Groups(x->dims(), taken), largest,
                                   call.integer("select_last_index", 0) != 0);
}

struct Ranked {
  std::vector<std::uint64_t> order;  // of the elements of a line, the best first
  std::vector<Estimate> numbers;     // by that order
};

class TopK final : public Operator {
 public:
  TopK(Tensor& x, Dims dims, Groups groups, Groups results, bool largest)
      : Operator({{dims, x.dtype()}, {dims, DType::int64}}),
        x_(x),
        groups_(std::move(groups)),
        results_(std::move(results)),
        sign_(largest ? 1 : -1) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    const std::uint64_t group = results_.group_of(number);
    const std::uint64_t rank = results_.which_of(number);
    const Ranked& ranked = kept_.get(group, [&] { return rank_all(group); });
    const Estimate& own = ranked.numbers[rank];
    if (output == 0) return own;
    // Its place is known only as far as the numbers around it are.
    double reach = 0;
    for (std::size_t other = 0; other < ranked.numbers.size(); ++other)
      if (other != rank && std::abs(ranked.numbers[other].value - own.value) <=
                               ranked.numbers[other].error + own.error)
        reach = std::max(reach, std::abs(static_cast<double>(ranked.order[other]) -
                                         static_cast<double>(ranked.order[rank])));
    return {static_cast<double>(ranked.order[rank]), reach};
  }

 private:
  Ranked rank_all(std::uint64_t group) {
    std::vector<std::pair<Estimate, std::uint64_t>> all;
    for (std::uint64_t which = 0; which < groups_.size(); ++which)
      all.emplace_back(x_.at(groups_.element(group, which)), which);
    std::ranges::stable_sort(all, [&](const auto& a, const auto& b) {
      return sign_ * a.first.value > sign_ * b.first.value;
    });
    Ranked ranked;
    for (const auto& [number, which] : all) {
      ranked.order.push_back(which);
      ranked.numbers.push_back(number);
    }
    return ranked;
  }

  Tensor& x_;
  Groups groups_;
  Groups results_;
  double sign_;
  KeptByGroup<Ranked> kept_;
};

}  // namespace

MadeOperator make_arg_max(const Call& call) { return make_arg(call, true); }
MadeOperator make_arg_min(const Call& call) { return make_arg(call, false); }

MadeOperator make_top_k(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), x->rank()));
  std::int64_t k = call.integer("k", 0);
  if (call.has_input(1)) {
    BTF_ASSIGN(const auto given, call.whole_integers(1));
    if (given.size() == 1) k = given[0];
  }
  if (k < 0 || static_cast<std::uint64_t>(k) > x->dims()[axis])
    return not_computed("its k " + std::to_string(k) + " is more than there are");
  if (call.integer("sorted", 1) == 0) return not_computed("its results have no order");
  BTF_TRY(check_terms(x->dims()[axis]));
  std::vector<bool> taken(x->rank(), false);
  taken[axis] = true;
  Dims dims = x->dims();
  dims[axis] = static_cast<std::uint64_t>(k);
  const Groups results(dims, taken);
  return std::make_unique<TopK>(*x, std::move(dims), Groups(x->dims(), taken), results,
                                call.integer("largest", 1) != 0);
}

}  // namespace btf::network
