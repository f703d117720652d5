#include "network/operators/choosing.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
    double most = -std::numeric_limits<double>::infinity();
    bool exact = true;
    Largest largest;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = signed_element(number, which);
      // What is first among NaN differs.
      if (std::isnan(x.value)) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
      largest.add(x);
      exact = exact && x.error == 0;
      if (which > 0 && x.value < most) continue;
      if (which > 0 && x.value == most && !last_) continue;
      best = which;
      most = x.value;
    }
    double reach = 0;
    for (std::uint64_t which = 0; !exact && which < groups_.size(); ++which) {
      const Estimate x = signed_element(number, which);
      // Equal numbers have an order.
      if (x.value < most && largest.may_be(x))
        reach = std::max(reach, std::abs(static_cast<double>(which) - static_cast<double>(best)));
    }
    return {static_cast<double>(best), reach};
  }

 private:
  Estimate signed_element(std::uint64_t group, std::uint64_t which) {
    const Estimate x = element_of(x_, groups_.element(group, which));
    return {sign_ * x.value, x.error};
  }

  Tensor& x_;
  Groups groups_;
  double sign_;
  bool last_;
};

MadeOperator make_arg(const Call& call, bool largest) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", 0), x->rank()));
  if (x->elements() == 0) return not_computed("it is empty");
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

// The elements of a line, the best first.
struct Ranked {
  struct Place {
    std::uint64_t which = 0;
    Estimate number;
  };
  std::vector<Place> places;
  // By place, what may stand there: bounds in their own order, as they need not be those of the
  // element that stands there.
  std::vector<double> low;
  std::vector<double> high;
  double error = 0;  // of any element, at most
  bool nan = false;
};

// Kept lines have no more elements than this, together.
constexpr std::uint64_t kMostRanked = 1U << 20;

class TopK final : public Operator {
 public:
  TopK(Tensor& x, Dims dims, Groups groups, Groups results, bool largest)
      : Operator({{dims, x.dtype()}, {dims, DType::int64}}),
        x_(x),
        groups_(std::move(groups)),
        results_(std::move(results)),
        sign_(largest ? 1 : -1),
        kept_(kMostRanked / std::max<std::uint64_t>(1, groups_.size()) + 1) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    const std::uint64_t group = results_.group_of(number);
    const std::uint64_t rank = results_.which_of(number);
    const Ranked& ranked = kept_.get(group, [&] { return rank_all(group); });
    // Where NaN goes differs.
    if (ranked.nan) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
    const double value = ranked.places[rank].number.value;
    const double low = ranked.low[rank];
    const double high = ranked.high[rank];
    if (output == 0)
      return {sign_ * value, std::isinf(value) ? 0 : std::max(high - value, value - low)};
    return {static_cast<double>(ranked.places[rank].which), reach(ranked, rank)};
  }

 private:
  // To the furthest element that may stand at this place.
  static double reach(const Ranked& ranked, std::uint64_t rank) {
    const double low = ranked.low[rank];
    const double high = ranked.high[rank];
    const auto own = static_cast<double>(ranked.places[rank].which);
    double most = 0;
    const auto try_one = [&](const Ranked::Place& place) {
      const Estimate& x = place.number;
      if (x.value + x.error >= low && x.value - x.error <= high)
        most = std::max(most, std::abs(static_cast<double>(place.which) - own));
    };
    for (std::uint64_t at = rank; at < ranked.places.size(); ++at) {
      if (ranked.places[at].number.value + ranked.error < low) break;
      try_one(ranked.places[at]);
    }
    for (std::uint64_t at = rank; at-- > 0;) {
      if (ranked.places[at].number.value - ranked.error > high) break;
      try_one(ranked.places[at]);
    }
    return most;
  }

  Ranked rank_all(std::uint64_t group) {
    Ranked ranked;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = element_of(x_, groups_.element(group, which));
      if (std::isnan(x.value)) return {.places = {}, .low = {}, .high = {}, .nan = true};
      const double value = sign_ * x.value;
      ranked.places.push_back({which, {value, x.error}});
      ranked.low.push_back(value - x.error);
      ranked.high.push_back(value + x.error);
      ranked.error = std::max(ranked.error, x.error);
    }
    std::ranges::stable_sort(ranked.places, std::ranges::greater{},
                             [](const Ranked::Place& place) { return place.number.value; });
    std::ranges::sort(ranked.low, std::ranges::greater{});
    std::ranges::sort(ranked.high, std::ranges::greater{});
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
