// Reductions, softmaxes and logarithms of sums: many elements to one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "btf/try.h"
#include "network/node.h"
#include "network/operators/operators.h"
#include "network/operators/pooling.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The sum of exp(x - most) over a group; the bounds follow from the errors of the elements.
struct ExponentialSum {
  double most = 0;
  double sum = 0;  // NaN if an element is
  double low = 0;
  double high = 0;
  double rounding = 0;  // relative error of the sum on a device

  double log_error() const;
};

// The relative rounding error of an exponential: a few half steps, plus that of its argument.
double exponential_rounding(double argument) { return kFloat32 * (4 + 2 * std::abs(argument)); }

double ExponentialSum::log_error() const {
  return std::max(std::log(high / sum), std::log(sum / low)) + rounding;
}

ExponentialSum exponential_sum(Tensor& x, const Groups& groups, std::uint64_t group) {
  ExponentialSum found{.most = -std::numeric_limits<double>::infinity()};
  bool nan = false;
  const bool all = groups.for_each(x, group, [&](const Estimate& element) {
    nan = nan || std::isnan(element.value);
    found.most = std::max(found.most, element.value);
  });
  if (nan || !all) {
    found.sum = kNaN;
    return found;
  }
  if (std::isinf(found.most)) return found;
  double rounding = 0;
  groups.for_each(x, group, [&](const Estimate& read) {
    const Estimate element = element_of(read);
    const double shifted = element.value - found.most;
    const double term = std::exp(shifted);
    found.sum += term;
    found.low += std::exp(shifted - element.error);
    found.high += std::exp(shifted + element.error);
    // A masked element is far below and contributes 0.
    if (term > 0) rounding += term * exponential_rounding(shifted);
  });
  const auto n = static_cast<double>(groups.size());
  found.rounding = rounding / found.sum + kFloat32 * std::min(n, 4 + std::sqrt(n));
  return found;
}

// Softmax and similar operators, and normalisations by a norm.

class Softmax final : public Operator {
 public:
  Softmax(Tensor& x, Groups groups, bool logarithm, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}),
        x_(x),
        groups_(std::move(groups)),
        logarithm_(logarithm),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t group = groups_.group_of(number);
    const ExponentialSum& sum =
        kept_.get(group, [&] { return exponential_sum(x_, groups_, group); });
    const Estimate x = element_of(x_, number);
    if (std::isnan(sum.sum) || std::isnan(x.value)) return {kNaN, 0};
    // All are masked, or one is infinite: Inf - Inf, which some devices handle specially.
    if (std::isinf(sum.most)) return {kNaN, HUGE_VAL};
    return logarithm_ ? log_part(x, sum) : part(x, sum);
  }

  const Groups* groups() const override { return &groups_; }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    const double most = *std::ranges::max_element(x);
    double sum = 0;
    for (const double number : x) sum += std::exp(number - most);
    for (std::size_t i = 0; i < x.size(); ++i)
      into[i] = logarithm_ ? x[i] - most - std::log(sum) : std::exp(x[i] - most) / sum;
  }

 private:
  Estimate log_part(const Estimate& x, const ExponentialSum& sum) const {
    const double shifted = x.value - sum.most;
    const double value = shifted - std::log(sum.sum);
    if (std::isinf(value)) return {value, 0};
    const double own = kFloat32 * (2 * std::abs(shifted) + std::abs(sum.most) + std::abs(value));
    return rounded({value, x.error + sum.log_error() + own}, arithmetic_);
  }

  // An element's own error affects its exponential and its part of the sum, so the result of a
  // large part hardly changes.
  Estimate part(const Estimate& x, const ExponentialSum& sum) const {
    const double shifted = x.value - sum.most;
    const double value = std::exp(shifted) / sum.sum;
    const double up = std::exp(shifted + x.error);
    const double down = std::exp(shifted - x.error);
    const double high = part_of(up, std::max(0.0, sum.low - down), 1);
    const double low = part_of(down, std::max(0.0, sum.high - up), 0);
    const double rounding = value > 0 ? exponential_rounding(shifted) + sum.rounding : 0;
    const double error =
        std::max({0.0, high - value, value - low}) + value * std::min(1.0, std::expm1(rounding));
    return rounded(rounded({value, error}, arithmetic_), arithmetic_);
  }

  static double part_of(double own, double others, double otherwise) {
    const double part = own / (own + others);
    return std::isnan(part) ? otherwise : part;
  }

  Tensor& x_;
  Groups groups_;
  bool logarithm_;
  const Arithmetic& arithmetic_;
  GroupCache<ExponentialSum> kept_;
};

// 1 for the largest, 0 for the others; either for elements that may be the largest.
class Hardmax final : public Operator {
 public:
  Hardmax(Tensor& x, Groups groups)
      : Operator({x.dims(), x.dtype()}), x_(x), groups_(std::move(groups)) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Line& line =
        kept_.get(groups_.group_of(number), [&] { return find(groups_.group_of(number)); });
    const Estimate x = element_of(x_, number);
    if (line.nan) return {kNaN, HUGE_VAL};
    if (groups_.which_of(number) == line.first) return {1, line.rivals ? 1.0 : 0.0};
    // Equal numbers have an order.
    return {0, x.value < line.most && line.largest.may_be(x) ? 1.0 : 0.0};
  }

 private:
  struct Line {
    double most = 0;
    std::uint64_t first = 0;  // index of the largest
    bool rivals = false;      // others may be the largest
    bool nan = false;
    Largest largest{};
  };

  Line find(std::uint64_t group) {
    Line line{.most = -std::numeric_limits<double>::infinity()};
    bool exact = true;
    std::uint64_t which = 0;
    const bool all = groups_.for_each(x_, group, [&](const Estimate& read) {
      const Estimate x = element_of(read);
      line.nan = line.nan || std::isnan(x.value);
      line.largest.add(x);
      exact = exact && x.error == 0;
      if (!(x.value <= line.most)) {
        line.most = x.value;
        line.first = which;
      }
      ++which;
    });
    line.nan = line.nan || !all;
    if (exact || line.nan) return line;
    groups_.for_each(x_, group, [&](const Estimate& read) {
      const Estimate x = element_of(read);
      line.rivals = line.rivals || (x.value < line.most && line.largest.may_be(x));
    });
    return line;
  }

  Tensor& x_;
  Groups groups_;
  GroupCache<Line> kept_;
};

struct SoftmaxLines {
  Tensor* x = nullptr;
  Groups groups;
};

// Before version 13 all dims from the axis on are one.
Result<SoftmaxLines> softmax_lines(const Call& call) {
  constexpr std::int64_t kOneAxis = 13;
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const bool one = call.version >= kOneAxis;
  if (x->elements() == 0 || x->rank() == 0) return not_computed("it is empty");
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", one ? -1 : 1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  for (std::size_t d = axis; d < (one ? axis + 1 : x->rank()); ++d) taken[d] = true;
  Groups groups(x->dims(), taken);
  BTF_TRY(check_terms(groups.size()));
  return SoftmaxLines{x, std::move(groups)};
}

OperatorResult softmax(const Call& call, bool logarithm) {
  BTF_ASSIGN(SoftmaxLines lines, softmax_lines(call));
  return std::make_unique<Softmax>(*lines.x, std::move(lines.groups), logarithm, call.arithmetic);
}

class LpNormalisationOp final : public Operator {
 public:
  LpNormalisationOp(Tensor& x, Groups groups, bool squares, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}),
        x_(x),
        groups_(std::move(groups)),
        squares_(squares),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Estimate norm =
        kept_.get(groups_.group_of(number), [&] { return find(groups_.group_of(number)); });
    const Estimate x = x_.at(number);
    // ONNX leaves 0 / 0 at 0.
    if (norm.value == 0) return {0, norm.error > 0 ? HUGE_VAL : 0};
    const double value = x.value / norm.value;
    const double least = norm.value - norm.error;
    const double error =
        least > 0 ? (std::abs(x.value) + x.error) / least - std::abs(value) : HUGE_VAL;
    return rounded(rounded({value, error}, arithmetic_), arithmetic_);
  }

  const Groups* groups() const override { return &groups_; }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    const double sum = sum_of(x);
    const double norm = squares_ ? std::sqrt(sum) : sum;
    for (std::size_t i = 0; i < x.size(); ++i) into[i] = norm == 0 ? 0 : x[i] / norm;
  }
  GroupInside inside(std::span<const double> x, const RoundNumber&) const override {
    return {.largest = sum_of(x)};
  }

 private:
  double sum_of(std::span<const double> x) const {
    double sum = 0;
    for (const double number : x) sum += squares_ ? number * number : std::abs(number);
    return sum;
  }

  Estimate find(std::uint64_t group) {
    Sum sum;
    const bool all = groups_.for_each(x_, group, [&](const Estimate& x) {
      const double size = std::abs(x.value);
      squares_ ? sum.add(size * size, 0, (2 * size + x.error) * x.error + kFloat32 * size * size)
               : sum.add(size, 0, x.error);
    });
    if (!all) return kNotAvailable;
    const Estimate total = sum.result(arithmetic_.accumulator);
    if (!squares_) return total;
    const double root = std::sqrt(total.value);
    return {root, root > 0 ? total.error / (2 * root) + kFloat32 * root : 0};
  }

  Tensor& x_;
  Groups groups_;
  bool squares_;
  const Arithmetic& arithmetic_;
  GroupCache<Estimate> kept_;
};

class LocalResponse final : public Operator {
 public:
  struct Form {
    std::int64_t size = 1;
    double alpha = 0;
    double beta = 0;
    double bias = 1;
  };

  LocalResponse(Tensor& x, const Form& form, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}), x_(x), form_(form), arithmetic_(arithmetic) {
    for (std::size_t d = 2; d < x.rank(); ++d) image_ *= x.dims()[d];
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const auto channels = static_cast<std::int64_t>(x_.dims()[1]);
    const auto channel = static_cast<std::int64_t>(number / image_ % x_.dims()[1]);
    const std::int64_t first = std::max<std::int64_t>(0, channel - (form_.size - 1) / 2);
    const std::int64_t end = std::min(channels, channel + form_.size / 2 + 1);
    Sum sum;
    const bool all = for_each_element(
        x_, number - static_cast<std::uint64_t>(channel - first) * image_, image_,
        static_cast<std::uint64_t>(end - first), [&](const Estimate& x) {
          const double square = x.value * x.value;
          sum.add(square, kFloat32 * square, (2 * std::abs(x.value) + x.error) * x.error);
        });
    if (!all) return kNotAvailable;
    const Estimate squares = sum.result(arithmetic_.accumulator);
    const double part = form_.alpha / static_cast<double>(form_.size);
    const double base = form_.bias + part * squares.value;
    const double divisor = std::pow(base, form_.beta);
    const Estimate x = x_.at(number);
    const double value = x.value / divisor;
    // Powers are computed as exponentials of logarithms.
    const double power = kFloat32 * (8 + 4 * std::abs(form_.beta * std::log(base)));
    const double relative =
        std::abs(form_.beta) * (std::abs(part) * squares.error / base + 4 * kFloat32) + power;
    return rounded({value, x.error / divisor + std::abs(value) * relative}, arithmetic_);
  }

 private:
  Tensor& x_;
  Form form_;
  std::uint64_t image_ = 1;
  const Arithmetic& arithmetic_;
};

}  // namespace

OperatorResult make_softmax(const Call& call) { return softmax(call, false); }
OperatorResult make_log_softmax(const Call& call) { return softmax(call, true); }

OperatorResult make_hardmax(const Call& call) {
  BTF_ASSIGN(SoftmaxLines lines, softmax_lines(call));
  return std::make_unique<Hardmax>(*lines.x, std::move(lines.groups));
}

OperatorResult make_lp_normalised(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  taken[axis] = true;
  BTF_TRY(check_terms(x->dims()[axis]));
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) return not_computed("its p " + std::to_string(p) + " is neither 1 nor 2");
  return std::make_unique<LpNormalisationOp>(*x, Groups(x->dims(), taken), p == 2, call.arithmetic);
}

OperatorResult make_lrn(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t size = call.integer("size", 0);
  if (x->rank() < 2 || size < 1 || size > 1 << 16) return not_computed("its size cannot be used");
  return std::make_unique<LocalResponse>(
      *x,
      LocalResponse::Form{size, call.real("alpha", 0.0001), call.real("beta", 0.75),
                          call.real("bias", 1)},
      call.arithmetic);
}

namespace {

// A reduction: the term of each element that is summed, and the function of the sum.
struct Reduction {
  std::string_view name;
  double (*term)(double x) = nullptr;                             // nullptr: the element itself
  double (*slope)(double x) = nullptr;                            // derivative of `term`
  void (*add)(GroupSums& sums, const GroupNumbers& x) = nullptr;  // the terms of many elements
  double (*last)(double sum, double count) = nullptr;
  std::int64_t axes_input_since = 18;  // the version from which axes are an input
};

double one(double) { return 1; }
double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }
double size(double x) { return std::abs(x); }
double itself(double x) { return x; }

// Two chains of additions at a time, since each waits for itself.
template <double (*Term)(double)>
void add_terms(GroupSums& sums, const GroupNumbers& x) {
  GroupSums found = sums;
  for (std::size_t i = 0; i < x.exact.size(); ++i) {
    found.exact += Term(x.exact[i]);
    found.narrow += Term(x.narrow[i]);
  }
  sums = found;
}

constexpr auto kSums = std::to_array<Reduction>({
    {"ReduceSum", nullptr, one, add_terms<itself>, nullptr, 13},
    {"ReduceMean", nullptr, one, add_terms<itself>, [](double sum, double n) { return sum / n; }},
    {"ReduceSumSquare", square, twice, add_terms<square>, nullptr},
    {"ReduceL1", size, one, add_terms<size>, nullptr},
    {"ReduceL2", square, twice, add_terms<square>,
     [](double sum, double) { return std::sqrt(std::max(sum, 0.0)); }},
    {"ReduceLogSum", nullptr, one, add_terms<itself>,
     [](double sum, double) { return std::log(sum); }},
});

struct ReducedShape {
  Groups groups;
  Dims dims;  // of the result
};

// True if a group of one element gives that element.
bool keeps_single(std::string_view op) {
  constexpr auto kPlain =
      std::to_array<std::string_view>({"Sum", "Mean", "Max", "Min", "Prod", "LogSumExp"});
  return std::ranges::find(kPlain, op.substr(std::string_view("Reduce").size())) != kPlain.end();
}

// The axes in any version.
Result<ReducedShape> reduced(const Call& call, const Tensor& x, std::int64_t axes_input_since) {
  std::vector<std::int64_t> axes = call.integers("axes");
  if (call.version >= axes_input_since && call.has_input(1)) {
    BTF_ASSIGN(axes, call.whole_integers(1));
  }
  BTF_ASSIGN(std::vector<bool> taken, dims_of_axes(axes, x.rank()));
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) {
    // Some runtimes return the input unchanged, others reduce each element by itself.
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

class SumReduction final : public Operator {
 public:
  SumReduction(const Reduction& reduction, Tensor& x, ReducedShape shape,
               const Arithmetic& arithmetic)
      : Operator({std::move(shape.dims), x.dtype()}),
        reduction_(reduction),
        x_(x),
        groups_(std::move(shape.groups)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Sum sum;
    const bool all = groups_.for_each(x_, number, [&](const Estimate& x) {
      const double term = reduction_.term != nullptr ? reduction_.term(x.value) : x.value;
      const double error = x.error * (std::abs(reduction_.slope(x.value)) +
                                      (reduction_.term == square ? x.error : 0));
      sum.add(term, 0, error + (reduction_.term == square ? kFloat32 * term : 0));
    });
    if (!all) return kNotAvailable;
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
  bool sums_up() const override { return true; }
  void add_to(GroupSums& sums, const GroupNumbers& x) const override { reduction_.add(sums, x); }
  GroupInside of_sums(const GroupSums& sums, const GroupResults& into) const override {
    const auto count = static_cast<double>(groups_.size());
    const auto last = [&](double sum) {
      return reduction_.last != nullptr ? reduction_.last(sum, count) : sum;
    };
    into.exact[0] = last(sums.exact);
    into.narrow[0] = last(sums.narrow);
    return {.largest = std::abs(sums.exact)};
  }

 private:
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
OperatorResult make_sum(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, kSums[I].axes_input_since));
  return std::make_unique<SumReduction>(kSums[I], *x, std::move(shape), call.arithmetic);
}

class ExtremeReduction final : public Operator {
 public:
  ExtremeReduction(Tensor& x, ReducedShape shape, bool largest)
      : Operator({std::move(shape.dims), x.dtype()}),
        x_(x),
        groups_(std::move(shape.groups)),
        largest_(largest) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const double sign = largest_ ? 1 : -1;
    Largest found;
    const bool all = groups_.for_each(x_, number, [&](const Estimate& read) {
      const Estimate x = element_of(read);
      found.add({sign * x.value, x.error});
    });
    if (!all) return kNotAvailable;
    const Estimate most = found.result();
    return {sign * most.value, most.error};
  }

 private:
  Tensor& x_;
  Groups groups_;
  bool largest_;
};

template <bool Largest>
OperatorResult make_extreme(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, 18));
  return std::make_unique<ExtremeReduction>(*x, std::move(shape), Largest);
}

class ProductReduction final : public Operator {
 public:
  ProductReduction(Tensor& x, ReducedShape shape, const Arithmetic& arithmetic)
      : Operator({std::move(shape.dims), x.dtype()}),
        x_(x),
        groups_(std::move(shape.groups)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    Estimate product{1, 0};
    const bool all = groups_.for_each(x_, number, [&](const Estimate& x) {
      product = {product.value * x.value,
                 product.error * (std::abs(x.value) + x.error) + x.error * std::abs(product.value)};
      if (x_.floating()) product.error += kFloat32 * std::abs(product.value);
    });
    if (!all) return kNotAvailable;
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

OperatorResult make_product(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(ReducedShape shape, reduced(call, *x, 18));
  return std::make_unique<ProductReduction>(*x, std::move(shape), call.arithmetic);
}

// log(sum(exp(x))); devices subtract the largest element first.
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
    // Devices that do not subtract it round larger arguments.
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

OperatorResult make_log_sum_exp(const Call& call) {
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
    const bool all =
        for_each_element(x_, start + first * stride_, stride_, end > first ? end - first : 0,
                         [&](const Estimate& x) { sum.add(x.value, 0, x.error); });
    if (!all) return kNotAvailable;
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

OperatorResult make_cumsum(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const auto axis, call.whole_integers(1));
  if (axis.size() != 1) return not_computed("its axis is no single number");
  BTF_ASSIGN(const std::size_t d, axis_of(axis[0], x->rank()));
  BTF_TRY(check_terms(x->dims()[d]));
  return std::make_unique<CumSum>(*x, d, call.integer("exclusive", 0) != 0,
                                  call.integer("reverse", 0) != 0, call.arithmetic);
}

constexpr auto kSumRows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{OperatorRow{kSums[I].name, 1, make_sum<I>, ErrorPropagation::groups}...};
}(std::make_index_sequence<kSums.size()>());

constexpr auto kOthers = std::to_array<OperatorRow>({
    {"ReduceMax", 1, make_extreme<true>, ErrorPropagation::moved},
    {"ReduceMin", 1, make_extreme<false>, ErrorPropagation::moved},
    {"ReduceProd", 1, make_product, ErrorPropagation::groups},
    {"ReduceLogSumExp", 1, make_log_sum_exp, ErrorPropagation::groups},
    {"CumSum", 11, make_cumsum, ErrorPropagation::moved},
    {"ArgMax", 1, make_arg_max, ErrorPropagation::none},
    {"ArgMin", 1, make_arg_min, ErrorPropagation::none},
    {"TopK", 1, make_top_k, ErrorPropagation::moved},
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
