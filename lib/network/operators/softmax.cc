// Softmax and its kin, and normalisations by a norm.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "network/node/strides.h"
#include "network/operators/normalising_makers.h"
#include "network/operators/rows.h"

namespace btf::network {
namespace {

constexpr double kNoLine = std::numeric_limits<double>::quiet_NaN();

enum class SoftmaxKind : std::uint8_t { plain, logarithm, hard };

struct Line {
  double most = 0;
  double sum = 0;           // of exp(x - most)
  double error = 0;         // of any element, at most
  std::uint64_t first = 0;  // where the largest is
};

class Softmax final : public Operator {
 public:
  Softmax(Tensor& x, Groups groups, SoftmaxKind kind, const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}),
        x_(x),
        groups_(std::move(groups)),
        kind_(kind),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Line& line =
        kept_.get(groups_.group_of(number), [&] { return find(groups_.group_of(number)); });
    const Estimate x = x_.at(number);
    if (std::isnan(line.sum) || std::isnan(x.value)) return {kNoLine, 0};
    const auto n = static_cast<double>(groups_.size());
    const double shifted = x.value - line.most;
    // An argument's error is a factor of the exponential; the sum's is that of its largest terms.
    const double argument = x.error + line.error + kFloat32 * (4 + 2 * std::abs(shifted));
    const double sum = kFloat32 * (4 + std::sqrt(n));
    if (kind_ == SoftmaxKind::hard)
      return {groups_.which_of(number) == line.first ? 1.0 : 0.0,
              line.error > 0 ? uncertain(x, line) : 0};
    if (kind_ == SoftmaxKind::logarithm) {
      const double value = shifted - std::log(line.sum);
      if (std::isinf(value)) return {value, 0};
      return rounded({value, argument + sum + kFloat32 * (std::abs(line.most) + std::abs(value))},
                     arithmetic_);
    }
    const double value = std::exp(shifted) / line.sum;
    return rounded(rounded({value, value * std::expm1(argument + sum)}, arithmetic_), arithmetic_);
  }

 private:
  static double uncertain(const Estimate& x, const Line& line) {
    return x.value + x.error >= line.most - line.error && x.value != line.most ? 1 : 0;
  }

  Line find(std::uint64_t group) {
    Line line{.most = -std::numeric_limits<double>::infinity()};
    for (std::uint64_t which = 0; which < groups_.size(); ++which) {
      const Estimate x = x_.at(groups_.element(group, which));
      if (std::isnan(x.value)) return {.sum = kNoLine};
      line.error = std::max(line.error, x.error);
      if (x.value <= line.most) continue;
      line.most = x.value;
      line.first = which;
    }
    // All masked: Inf less Inf.
    if (std::isinf(line.most)) return {.sum = kNoLine};
    for (std::uint64_t which = 0; which < groups_.size(); ++which)
      line.sum += std::exp(x_.value(groups_.element(group, which)) - line.most);
    return line;
  }

  Tensor& x_;
  Groups groups_;
  SoftmaxKind kind_;
  const Arithmetic& arithmetic_;
  KeptByGroup<Line> kept_;
};

// Before version 13 all dims from the axis on are one.
MadeOperator softmax(const Call& call, SoftmaxKind kind) {
  constexpr std::int64_t kOneAxis = 13;
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const bool one = call.version >= kOneAxis;
  if (x->elements() == 0 || x->rank() == 0) return not_computed("it is empty");
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", one ? -1 : 1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  for (std::size_t d = axis; d < (one ? axis + 1 : x->rank()); ++d) taken[d] = true;
  Groups groups(x->dims(), taken);
  BTF_TRY(check_terms(groups.size()));
  return std::make_unique<Softmax>(*x, std::move(groups), kind, call.arithmetic);
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
    if (norm.value == 0) return {0, 0};
    const double value = x.value / norm.value;
    return rounded(
        rounded({value, x.error / norm.value + std::abs(value) * norm.error / norm.value},
                arithmetic_),
        arithmetic_);
  }

 private:
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
      sum.add(x.value * x.value, 0, (2 * std::abs(x.value) + x.error) * x.error);
    }
    const Estimate squares = sum.result(arithmetic_.accumulator);
    const double part = form_.alpha / static_cast<double>(form_.size);
    const double base = form_.bias + part * squares.value;
    const double divisor = std::pow(base, form_.beta);
    const Estimate x = x_.at(number);
    const double value = x.value / divisor;
    const double relative =
        std::abs(form_.beta) * (part * squares.error / base + 4 * kFloat32) + 4 * kFloat32;
    return rounded({value, x.error / divisor + std::abs(value) * relative}, arithmetic_);
  }

 private:
  Tensor& x_;
  Form form_;
  std::uint64_t image_ = 1;
  const Arithmetic& arithmetic_;
};

}  // namespace

MadeOperator make_softmax(const Call& call) { return softmax(call, SoftmaxKind::plain); }
MadeOperator make_log_softmax(const Call& call) { return softmax(call, SoftmaxKind::logarithm); }
MadeOperator make_hardmax(const Call& call) { return softmax(call, SoftmaxKind::hard); }

MadeOperator make_lp_normalised(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  taken[axis] = true;
  BTF_TRY(check_terms(x->dims()[axis]));
  return std::make_unique<LpNormalised>(*x, Groups(x->dims(), taken), call.integer("p", 2) == 2,
                                        call.arithmetic);
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
