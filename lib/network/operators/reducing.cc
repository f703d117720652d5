// Reductions: many elements to one.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "btf/try.h"
#include "network/node/strides.h"
#include "network/operators/choosing.h"
#include "network/operators/families.h"
#include "network/operators/log_sum.h"
#include "network/operators/rows.h"

namespace btf::network {
namespace {

// A reduction: the term of each element that is summed up, and the function of the sum.
struct Reduction {
  std::string_view name;
  double (*term)(double x) = nullptr;   // nullptr: the element itself
  double (*slope)(double x) = nullptr;  // of `term`
  double (*last)(double sum, double count) = nullptr;
  std::int64_t axes_input_since = 18;  // the version from which axes are an input
};

double one(double) { return 1; }
double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }

constexpr auto kSums = std::to_array<Reduction>({
    {"ReduceSum", nullptr, one, nullptr, 13},
    {"ReduceMean", nullptr, one, [](double sum, double n) { return sum / n; }},
    {"ReduceSumSquare", square, twice, nullptr},
    {"ReduceL1", [](double x) { return std::abs(x); }, one, nullptr},
    {"ReduceL2", square, twice, [](double sum, double) { return std::sqrt(std::max(sum, 0.0)); }},
    {"ReduceLogSum", nullptr, one, [](double sum, double) { return std::log(sum); }},
});

struct ReducedShape {
  Groups groups;
  Dims dims;  // of the result
};

// Makes of a single element the element.
bool keeps_single(std::string_view op) {
  constexpr auto kPlain =
      std::to_array<std::string_view>({"Sum", "Mean", "Max", "Min", "Prod", "LogSumExp"});
  return std::ranges::find(kPlain, op.substr(std::string_view("Reduce").size())) != kPlain.end();
}

// The axes of any version.
Result<ReducedShape> reduced(const Call& call, const Tensor& x, std::int64_t axes_input_since) {
  std::vector<std::int64_t> axes = call.integers("axes");
  if (call.version >= axes_input_since && call.has_input(1)) {
    BTF_ASSIGN(axes, call.whole_integers(1));
  }
  BTF_ASSIGN(std::vector<bool> taken, dims_of_axes(axes, x.rank()));
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) {
    // Some runtimes take the input as it is, others reduce each element by itself.
    if (!keeps_single(call.op)) return not_computed("it reduces no dim, which is read in two ways");
    taken.assign(x.rank(), false);
  }
  const bool keeps = call.integer("keepdims", 1) != 0;
  ReducedShape shape{Groups(x.dims(), taken), {}};
  BTF_TRY(check_terms(shape.groups.size()));
  for (std::size_t d = 0; d < x.rank(); ++d) {
    if (taken[d] && keeps) shape.dims.push_back(1);
    if (!taken[d]) shape.dims.push_back(x.dims()[d]);
  }
  return shape;
}

class Summed final : public Operator {
 public:
  Summed(const Reduction& reduction, Tensor& x, ReducedShape shape, const Arithmetic& arithmetic)
      : Operator({std::move(shape.dims), x.dtype()}),
        reduction_(reduction),
        x_(x),
        groups_(std::move(shape.groups)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Sum sum;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(number, which));
      const double term = reduction_.term != nullptr ? reduction_.term(x.value) : x.value;
      const double error = x.error * (std::abs(reduction_.slope(x.value)) +
                                      (reduction_.term == square ? x.error : 0));
      sum.add(term, 0, error + (reduction_.term == square ? kFloat32 * term : 0));
    }
    Estimate found = sum.result(x_.floating() ? arithmetic_.accumulator : 0);
    const auto count = static_cast<double>(groups_.size());
    if (reduction_.last != nullptr) {
      const double value = reduction_.last(found.value, count);
      found = {value, ends(found, count, value)};
    }
    if (!x_.floating()) return {std::trunc(found.value), 0};
    return rounded(rounded(found, arithmetic_), arithmetic_);
  }

  const Groups* groups() const override { return &groups_; }
  bool one_of_group() const override { return true; }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    const double sum = sum_of(x);
    into[0] = reduction_.last != nullptr ? reduction_.last(sum, static_cast<double>(groups_.size()))
                                         : sum;
  }
  GroupInside inside(std::span<const double> x, const RoundNumber&) const override {
    return {.largest = std::abs(sum_of(x))};
  }

 private:
  double sum_of(std::span<const double> x) const {
    double sum = 0;
    for (const double number : x)
      sum += reduction_.term != nullptr ? reduction_.term(number) : number;
    return sum;
  }

  double ends(const Estimate& sum, double count, double value) const {
    double most = 0;
    for (const double other : {sum.value - sum.error, sum.value + sum.error}) {
      const double end = reduction_.last(other, count);
      if (!std::isnan(end)) most = std::max(most, std::abs(end - value));
    }
    return most;
  }

  const Reduction& reduction_;
  Tensor& x_;
  Groups groups_;
  const Arithmetic& arithmetic_;
};

template <std::size_t I>
MadeOperator make_sum(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, kSums[I].axes_input_since));
  return std::make_unique<Summed>(kSums[I], *x, std::move(shape), call.arithmetic);
}

class Extreme final : public Operator {
 public:
  Extreme(Tensor& x, ReducedShape shape, bool largest)
      : Operator({std::move(shape.dims), x.dtype()}),
        x_(x),
        groups_(std::move(shape.groups)),
        largest_(largest) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const double sign = largest_ ? 1 : -1;
    Largest found;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = element_of(x_, groups_.element(number, which));
      found.add({sign * x.value, x.error});
    }
    const Estimate most = found.result();
    return {sign * most.value, most.error};
  }

 private:
  Tensor& x_;
  Groups groups_;
  bool largest_;
};

template <bool Largest>
MadeOperator make_extreme(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, 18));
  return std::make_unique<Extreme>(*x, std::move(shape), Largest);
}

class MultipliedAll final : public Operator {
 public:
  MultipliedAll(Tensor& x, ReducedShape shape, const Arithmetic& arithmetic)
      : Operator({std::move(shape.dims), x.dtype()}),
        x_(x),
        groups_(std::move(shape.groups)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Estimate product{1, 0};
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(number, which));
      product = {product.value * x.value,
                 product.error * (std::abs(x.value) + x.error) + x.error * std::abs(product.value)};
      if (x_.floating()) product.error += kFloat32 * std::abs(product.value);
    }
    return x_.floating() ? rounded(product, arithmetic_) : product;
  }

  const Groups* groups() const override { return &groups_; }
  bool one_of_group() const override { return true; }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    into[0] = 1;
    for (const double number : x) into[0] *= number;
  }

 private:
  Tensor& x_;
  Groups groups_;
  const Arithmetic& arithmetic_;
};

MadeOperator make_product(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, 18));
  return std::make_unique<MultipliedAll>(*x, std::move(shape), call.arithmetic);
}

// log(sum(exp(x))), which devices shift by the largest.
class LogSumExp final : public Operator {
 public:
  LogSumExp(Tensor& x, ReducedShape shape, const Arithmetic& arithmetic)
      : Operator({std::move(shape.dims), x.dtype()}),
        x_(x),
        groups_(std::move(shape.groups)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const ExponentialSum sum = exponential_sum(x_, groups_, number);
    if (std::isnan(sum.sum)) return {sum.sum, 0};
    if (std::isinf(sum.most)) return {sum.most, 0};
    const double value = sum.most + std::log(sum.sum);
    // Those that do not shift round larger arguments.
    const double own = kFloat32 * (4 + 2 * std::abs(sum.most));
    return rounded({value, sum.log_error() + own}, arithmetic_);
  }

  const Groups* groups() const override { return &groups_; }
  bool one_of_group() const override { return true; }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    const double most = *std::ranges::max_element(x);
    double sum = 0;
    for (const double number : x) sum += std::exp(number - most);
    into[0] = most + std::log(sum);
  }

 private:
  Tensor& x_;
  Groups groups_;
  const Arithmetic& arithmetic_;
};

MadeOperator make_log_sum_exp(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, 18));
  return std::make_unique<LogSumExp>(*x, std::move(shape), call.arithmetic);
}

class CumSum final : public Operator {
 public:
  CumSum(Tensor& x, std::size_t axis, bool exclusive, bool reverse, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}),
        x_(x),
        axis_(axis),
        stride_(row_major_strides(x.dims())[axis]),
        exclusive_(exclusive),
        reverse_(reverse),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t size = x_.dims()[axis_];
    const std::uint64_t own = number / stride_ % size;
    const std::uint64_t start = number - own * stride_;
    const std::uint64_t first = reverse_ ? own + (exclusive_ ? 1 : 0) : 0;
    const std::uint64_t end = reverse_ ? size : own + (exclusive_ ? 0 : 1);
    Sum sum;
    for (std::uint64_t at = first; at < end; ++at) {
      const Estimate x = x_.at(start + at * stride_);
      sum.add(x.value, 0, x.error);
    }
    if (!x_.floating()) return {sum.result(0).value, 0};
    // Each partial sum is a result, rounded to its type.
    return rounded(sum.result(std::max(arithmetic_.accumulator, arithmetic_.result)), arithmetic_);
  }

 private:
  Tensor& x_;
  std::size_t axis_;
  std::uint64_t stride_;
  bool exclusive_;
  bool reverse_;
  const Arithmetic& arithmetic_;
};

MadeOperator make_cumsum(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto axis, call.whole_integers(1));
  if (axis.size() != 1) return not_computed("its axis is no single number");
  BTF_ASSIGN(const std::size_t d, axis_of(axis[0], x->rank()));
  BTF_TRY(check_terms(x->dims()[d]));
  return std::make_unique<CumSum>(*x, d, call.integer("exclusive", 0) != 0,
                                  call.integer("reverse", 0) != 0, call.arithmetic);
}

constexpr auto kSumRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{OperatorRow{kSums[I].name, 1, make_sum<I>, Passing::groups}...};
}(std::make_index_sequence<kSums.size()>());

constexpr auto kOthers = std::to_array<OperatorRow>({
    {"ReduceMax", 1, make_extreme<true>, Passing::moved},
    {"ReduceMin", 1, make_extreme<false>, Passing::moved},
    {"ReduceProd", 1, make_product, Passing::groups},
    {"ReduceLogSumExp", 1, make_log_sum_exp, Passing::groups},
    {"CumSum", 11, make_cumsum, Passing::moved},
    {"ArgMax", 1, make_arg_max, Passing::none},
    {"ArgMin", 1, make_arg_min, Passing::none},
    {"TopK", 1, make_top_k, Passing::moved},
});

constexpr auto kReducingRows = [] {
  std::array<OperatorRow, kSumRows.size() + kOthers.size()> rows;
  std::ranges::copy(kSumRows, rows.begin());
  std::ranges::copy(kOthers, rows.begin() + kSumRows.size());
  return rows;
}();

}  // namespace

std::span<const OperatorRow> reducing_rows() { return kReducingRows; }

}  // namespace btf::network
