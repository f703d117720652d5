// Operators whose elements do not depend on elements of their inputs (shapes, ranges, constants),
// and those that choose elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "btf/try.h"
#include "formats/onnx_model.h"
#include "network/node.h"
#include "network/operators/operators.h"
#include "network/operators/pooling.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

class ListedNumbers final : public Operator {
 public:
  ListedNumbers(std::vector<double> numbers, Dims dims, DType dtype)
      : Operator({std::move(dims), dtype}), numbers_(std::move(numbers)) {}
  Estimate element(std::size_t, std::uint64_t number) override { return {numbers_[number], 0}; }

 private:
  std::vector<double> numbers_;
};

OperatorResult make_shape(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const auto rank = static_cast<std::int64_t>(x->rank());
  const auto inside = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank);
  };
  const std::int64_t first = inside(call.integer("start", 0));
  const std::int64_t end = inside(call.integer("end", rank));
  std::vector<double> sizes;
  for (std::int64_t d = first; d < end; ++d)
    sizes.push_back(static_cast<double>(x->dims()[static_cast<std::size_t>(d)]));
  const Dims dims{sizes.size()};
  return std::make_unique<ListedNumbers>(std::move(sizes), dims, DType::int64);
}

OperatorResult make_size(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  return std::make_unique<ListedNumbers>(std::vector{static_cast<double>(x->elements())}, Dims{},
                                         DType::int64);
}

// The same number everywhere, or the numbers of a tensor.
class FillOp final : public Operator {
 public:
  FillOp(double value, Output output) : Operator(std::move(output)), value_(value) {}
  Estimate element(std::size_t, std::uint64_t) override { return {value_, 0}; }

 private:
  double value_;
};

OperatorResult make_constant_of_shape(const Call& call) {
  BTF_ASSIGN(const auto shape, call.whole_integers(0));
  Dims dims;
  for (const std::int64_t size : shape) {
    if (size < 0) return not_computed("its shape cannot be used");
    dims.push_back(static_cast<std::uint64_t>(size));
  }
  const bool given = call.value != nullptr && call.value->elements() == 1;
  return std::make_unique<FillOp>(
      given ? call.value->value(0) : 0,
      Operator::Output{std::move(dims), given ? call.value->dtype() : DType::float32});
}

OperatorResult make_constant(const Call& call) {
  if (call.value != nullptr) {
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < call.value->elements(); ++i)
      numbers.push_back(call.value->value(i));
    return std::make_unique<ListedNumbers>(std::move(numbers), call.value->dims(),
                                           call.value->dtype());
  }
  if (call.has("value_float"))
    return std::make_unique<ListedNumbers>(std::vector{call.real("value_float", 0)}, Dims{},
                                           DType::float32);
  if (call.has("value_int"))
    return std::make_unique<ListedNumbers>(
        std::vector{static_cast<double>(call.integer("value_int", 0))}, Dims{}, DType::int64);
  std::vector<double> numbers;
  if (call.has("value_ints")) {
    for (const std::int64_t value : call.integers("value_ints"))
      numbers.push_back(static_cast<double>(value));
    const Dims dims{numbers.size()};
    return std::make_unique<ListedNumbers>(std::move(numbers), dims, DType::int64);
  }
  const auto reals = call.attributes.find("value_floats");
  if (reals == call.attributes.end()) return not_computed("its value is not a number");
  numbers = reals->second.reals;
  const Dims dims{numbers.size()};
  return std::make_unique<ListedNumbers>(std::move(numbers), dims, DType::float32);
}

class Range final : public Operator {
 public:
  Range(double start, double step, Output output, const Arithmetic& arithmetic)
      : Operator(std::move(output)), start_(start), step_(step), arithmetic_(arithmetic) {}
  // Devices add up the step, or multiply it.
  Estimate element(std::size_t, std::uint64_t number) override {
    const auto n = static_cast<double>(number);
    const double value = start_ + n * step_;
    if (!info(outputs()[0].dtype).floating()) return {value, 0};
    return {value,
            arithmetic_.result * (std::abs(value) + n * std::abs(step_)) * (1 + std::sqrt(n))};
  }

 private:
  double start_;
  double step_;
  const Arithmetic& arithmetic_;
};

OperatorResult make_range(const Call& call) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    if (tensor->elements() != 1) return not_computed("its inputs are not single numbers");
    numbers[i] = tensor->value(0);
  }
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  constexpr double kMax = 0x1p40;
  if (std::isnan(count) || count > kMax) return not_computed("its range cannot be used");
  return std::make_unique<Range>(
      numbers[0], numbers[2],
      Operator::Output{Dims{static_cast<std::uint64_t>(std::max(count, 0.0))},
                       call.inputs[0]->dtype()},
      call.arithmetic);
}

class Eye final : public Operator {
 public:
  Eye(double shift, Output output) : Operator(std::move(output)), shift_(shift) {}
  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t columns = outputs()[0].dims[1];
    const auto row = static_cast<double>(number / columns);
    const auto column = static_cast<double>(number % columns);
    return {column - row == shift_ ? 1.0 : 0.0, 0};
  }

 private:
  double shift_;
};

OperatorResult make_eye_like(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  if (x->rank() != 2) return not_computed("its input is not a matrix");
  DType dtype = x->dtype();
  if (call.has("dtype")) {
    const OnnxType* const type =
        find_onnx_type(static_cast<std::uint64_t>(call.integer("dtype", 0)));
    if (type == nullptr || !type->dtype) return not_computed("its dtype is not supported");
    dtype = *type->dtype;
  }
  return std::make_unique<Eye>(static_cast<double>(call.integer("k", 0)),
                               Operator::Output{x->dims(), dtype});
}

class OneHot final : public Operator {
 public:
  OneHot(Tensor& indices, Tensor& values, std::size_t axis, double depth, Output output)
      : Operator(std::move(output)),
        indices_(indices),
        values_(values),
        axis_(axis),
        depth_(depth) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, outputs()[0].dims);
    const auto at = static_cast<double>(index[axis_]);
    index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis_));
    const double wanted = indices_.value(number_of(index, indices_.dims()));
    const bool hot = at == (wanted < 0 ? wanted + depth_ : wanted);
    return values_.at(hot ? 1 : 0);
  }

 private:
  Tensor& indices_;
  Tensor& values_;
  std::size_t axis_;
  double depth_;
};

OperatorResult make_one_hot(const Call& call) {
  constexpr double kMax = 0x1p40;
  BTF_ASSIGN(Tensor* const indices, call.input(0));
  BTF_ASSIGN(Tensor* const depth, call.input(1));
  BTF_ASSIGN(Tensor* const values, call.input(2));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), indices->rank() + 1));
  if (depth->elements() != 1 || values->elements() != 2)
    return not_computed("its depth or its values cannot be used");
  const double size = depth->value(0);
  if (!(size >= 0 && size <= kMax)) return not_computed("its depth cannot be used");
  Dims dims = indices->dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::uint64_t>(size));
  return std::make_unique<OneHot>(*indices, *values, axis, std::floor(size),
                                  Operator::Output{std::move(dims), values->dtype()});
}

constexpr auto kMakingRows = std::to_array<OperatorRow>({
    {"Shape", 1, make_shape, ErrorPropagation::none},
    {"Size", 1, make_size, ErrorPropagation::none},
    {"ConstantOfShape", 9, make_constant_of_shape, ErrorPropagation::none},
    {"Constant", 1, make_constant, ErrorPropagation::none},
    {"Range", 11, make_range, ErrorPropagation::none},
    {"EyeLike", 9, make_eye_like, ErrorPropagation::none},
    {"OneHot", 9, make_one_hot, ErrorPropagation::none},
});

}  // namespace

std::span<const OperatorRow> making_rows() { return kMakingRows; }

namespace {

// The index of the best element, and the distance to the furthest index whose number is as good
// within its error.
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
    bool nan = false;
    std::uint64_t which = 0;
    const bool all = groups_.for_each(x_, number, [&](const Estimate& read) {
      const Estimate x = signed_element(read);
      nan = nan || std::isnan(x.value);
      largest.add(x);
      exact = exact && x.error == 0;
      if (which == 0 || x.value > most || (x.value == most && last_)) {
        best = which;
        most = x.value;
      }
      ++which;
    });
    if (!all) return kNotAvailable;
    // Which NaN comes first depends on the device.
    if (nan) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
    double reach = 0;
    if (exact) return {static_cast<double>(best), reach};
    which = 0;
    groups_.for_each(x_, number, [&](const Estimate& read) {
      const Estimate x = signed_element(read);
      // Equal numbers have an order.
      if (x.value < most && largest.may_be(x))
        reach = std::max(reach, std::abs(static_cast<double>(which) - static_cast<double>(best)));
      ++which;
    });
    return {static_cast<double>(best), reach};
  }

 private:
  Estimate signed_element(const Estimate& read) const {
    const Estimate x = element_of(read);
    return {sign_ * x.value, x.error};
  }

  Tensor& x_;
  Groups groups_;
  double sign_;
  bool last_;
};

OperatorResult make_arg(const Call& call, bool largest) {
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
struct RankedLine {
  struct Place {
    std::uint64_t which = 0;
    Estimate number;
  };
  std::vector<Place> places;
  // Bounds of the value at each place, sorted independently: they need not belong to the element at
  // that place.
  std::vector<double> low;
  std::vector<double> high;
  double error = 0;  // the largest error of an element
  bool nan = false;
};

// The limit on the elements of all cached lines.
constexpr std::uint64_t kMaxRanked = 1U << 20;

class TopK final : public Operator {
 public:
  TopK(Tensor& x, Dims dims, Groups groups, Groups results, bool largest)
      : Operator({{dims, x.dtype()}, {dims, DType::int64}}),
        x_(x),
        groups_(std::move(groups)),
        results_(std::move(results)),
        sign_(largest ? 1 : -1),
        kept_(kMaxRanked / std::max<std::uint64_t>(1, groups_.size()) + 1) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    const std::uint64_t group = results_.group_of(number);
    const std::uint64_t rank = results_.which_of(number);
    const RankedLine& ranked = kept_.get(group, [&] { return rank_all(group); });
    // The position of NaN depends on the device.
    if (ranked.nan) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
    const double value = ranked.places[rank].number.value;
    const double low = ranked.low[rank];
    const double high = ranked.high[rank];
    if (output == 0)
      return {sign_ * value, std::isinf(value) ? 0 : std::max(high - value, value - low)};
    const double reached = reach(ranked, rank);
    if (x_.exhausted()) return kNotAvailable;
    return {static_cast<double>(ranked.places[rank].which), reached};
  }

 private:
  // The distance to the furthest element that may be at this place.
  double reach(const RankedLine& ranked, std::uint64_t rank) {
    const double low = ranked.low[rank];
    const double high = ranked.high[rank];
    const auto own = static_cast<double>(ranked.places[rank].which);
    double most = 0;
    std::uint64_t steps = 0;
    const auto try_one = [&](const RankedLine::Place& place) {
      const Estimate& x = place.number;
      if (x.value + x.error >= low && x.value - x.error <= high)
        most = std::max(most, std::abs(static_cast<double>(place.which) - own));
      ++steps;
    };
    for (std::uint64_t at = rank; at < ranked.places.size(); ++at) {
      if (ranked.places[at].number.value + ranked.error < low) break;
      try_one(ranked.places[at]);
    }
    for (std::uint64_t at = rank; at-- > 0;) {
      if (ranked.places[at].number.value - ranked.error > high) break;
      try_one(ranked.places[at]);
    }
    x_.take_steps(steps);
    return most;
  }

  RankedLine rank_all(std::uint64_t group) {
    RankedLine ranked;
    std::uint64_t which = 0;
    const bool all = groups_.for_each(x_, group, [&](const Estimate& read) {
      const Estimate x = element_of(read);
      ranked.nan = ranked.nan || std::isnan(x.value);
      const double value = sign_ * x.value;
      ranked.places.push_back({which++, {value, x.error}});
      ranked.low.push_back(value - x.error);
      ranked.high.push_back(value + x.error);
      ranked.error = std::max(ranked.error, x.error);
    });
    if (ranked.nan || !all) return {.places = {}, .low = {}, .high = {}, .nan = true};
    std::ranges::stable_sort(ranked.places, std::ranges::greater{},
                             [](const RankedLine::Place& place) { return place.number.value; });
    std::ranges::sort(ranked.low, std::ranges::greater{});
    std::ranges::sort(ranked.high, std::ranges::greater{});
    return ranked;
  }

  Tensor& x_;
  Groups groups_;
  Groups results_;
  double sign_;
  GroupCache<RankedLine> kept_;
};

}  // namespace

OperatorResult make_arg_max(const Call& call) { return make_arg(call, true); }
OperatorResult make_arg_min(const Call& call) { return make_arg(call, false); }

OperatorResult make_top_k(const Call& call) {
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
