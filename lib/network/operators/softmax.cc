// Softmax and its kin, and normalisations by a norm.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "network/operators/log_sum.h"
#include "network/operators/normalising_makers.h"
#include "network/operators/rows.h"

namespace btf::network {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
    // All are masked out, or one is infinite: Inf less Inf, which some devices look out for.
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

  // An element's own error is that of its exponential and of its part of the sum, so that a large
  // part is hardly off.
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
  KeptByGroup<ExponentialSum> kept_;
};

// 1 for the largest, 0 for the others; either for those that may be it.
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
    std::uint64_t first = 0;  // where it is
    bool rivals = false;      // others may be it
    bool nan = false;
    Largest largest{};
  };

  Line find(std::uint64_t group) {
    Line line{.most = -std::numeric_limits<double>::infinity()};
    bool exact = true;
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = element_of(x_, groups_.element(group, which));
      line.nan = line.nan || std::isnan(x.value);
      line.largest.add(x);
      exact = exact && x.error == 0;
      if (x.value <= line.most) continue;
      line.most = x.value;
      line.first = which;
    }
    for (std::uint64_t which = 0; !exact && which < groups_.size(); ++which) {
      const Estimate x = element_of(x_, groups_.element(group, which));
      line.rivals = line.rivals || (x.value < line.most && line.largest.may_be(x));
    }
    return line;
  }

  Tensor& x_;
  Groups groups_;
  KeptByGroup<Line> kept_;
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

MadeOperator softmax(const Call& call, bool logarithm) {
  BTF_ASSIGN(SoftmaxLines lines, softmax_lines(call));
  return std::make_unique<Softmax>(*lines.x, std::move(lines.groups), logarithm, call.arithmetic);
}

class LpNormalised final : public Operator {
 public:
  LpNormalised(Tensor& x, Groups groups, bool squares, const Arithmetic& arithmetic)
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
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(group, which));
      const double size = std::abs(x.value);
      squares_ ? sum.add(size * size, 0, (2 * size + x.error) * x.error + kFloat32 * size * size)
               : sum.add(size, 0, x.error);
    }
    const Estimate total = sum.result(arithmetic_.accumulator);
    if (!squares_) return total;
    const double root = std::sqrt(total.value);
    return {root, root > 0 ? total.error / (2 * root) + kFloat32 * root : 0};
  }

  Tensor& x_;
  Groups groups_;
  bool squares_;
  const Arithmetic& arithmetic_;
  KeptByGroup<Estimate> kept_;
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
    for (std::int64_t c = first; c < end; ++c) {
      const Estimate x = x_.at(number + static_cast<std::uint64_t>(c - channel) * image_);
      const double square = x.value * x.value;
      sum.add(square, kFloat32 * square, (2 * std::abs(x.value) + x.error) * x.error);
    }
    const Estimate squares = sum.result(arithmetic_.accumulator);
    const double part = form_.alpha / static_cast<double>(form_.size);
    const double base = form_.bias + part * squares.value;
    const double divisor = std::pow(base, form_.beta);
    const Estimate x = x_.at(number);
    const double value = x.value / divisor;
    // Powers are exponentials of logarithms.
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

MadeOperator make_softmax(const Call& call) { return softmax(call, false); }
MadeOperator make_log_softmax(const Call& call) { return softmax(call, true); }

MadeOperator make_hardmax(const Call& call) {
  BTF_ASSIGN(SoftmaxLines lines, softmax_lines(call));
  return std::make_unique<Hardmax>(*lines.x, std::move(lines.groups));
}

MadeOperator make_lp_normalised(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  taken[axis] = true;
  BTF_TRY(check_terms(x->dims()[axis]));
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) return not_computed("its p " + std::to_string(p) + " is neither 1 nor 2");
  return std::make_unique<LpNormalised>(*x, Groups(x->dims(), taken), p == 2, call.arithmetic);
}

MadeOperator make_lrn(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const std::int64_t size = call.integer("size", 0);
  if (x->rank() < 2 || size < 1 || size > 1 << 16) return not_computed("its size cannot be used");
  return std::make_unique<LocalResponse>(
      *x,
      LocalResponse::Form{size, call.real("alpha", 0.0001), call.real("beta", 0.75),
                          call.real("bias", 1)},
      call.arithmetic);
}

}  // namespace btf::network
