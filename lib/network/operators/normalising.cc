// Normalisations: elements relative to the mean and the variance of their group.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "btf/try.h"
#include "network/node.h"
#include "network/operators/operators.h"
#include "network/operators/pooling.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

// Scale and bias of an element; either may be missing.
struct Affine {
  Tensor* scale = nullptr;
  Tensor* bias = nullptr;

  // The product is rounded before the bias is added.
  Estimate of(Estimate x, std::uint64_t at, double half_step) const;
};

// The divisor: the root of a variance, including what is added to either.
struct Deviation {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Moments {
  double mean = 0;
  double mean_error = 0;
  Deviation deviation{};
};

// Instance, group, layer and RMS normalisations differ in their groups, and in how scale and bias
// are indexed. Outputs 1 and 2, if present, are the mean and the inverse deviation of each group.
class NormalisationOp final : public Operator {
 public:
  NormalisationOp(std::vector<Output> outputs, Tensor& x, Groups groups, const NormalForm& form,
                  const Arithmetic& arithmetic);

  Estimate element(std::size_t output, std::uint64_t number) override;

  // Before scale and bias are applied.
  const Groups* groups() const override { return &groups_; }
  void of_group(std::span<const double> x, std::span<double> into) const override;
  GroupInside inside(std::span<const double> x, const RoundNumber& round) const override;

 private:
  double mean_of(std::span<const double> x) const;
  const Moments& moments_of(std::uint64_t group);
  Moments find(std::uint64_t group);

  Tensor& x_;
  Groups groups_;
  NormalForm form_;
  const Arithmetic& arithmetic_;
  GroupCache<Moments> kept_;
};

Estimate Affine::of(Estimate x, std::uint64_t at, double half_step) const {
  if (scale != nullptr) {
    const Estimate s = scale->at(at);
    const double error = x.error * std::abs(s.value) + s.error * (std::abs(x.value) + x.error);
    x = {x.value * s.value, error};
  }
  x.error += half_step * std::abs(x.value);
  if (bias == nullptr) return x;
  const Estimate b = bias->at(at);
  return {x.value + b.value,
          x.error + b.error + kFloat32 * (std::abs(x.value) + std::abs(b.value))};
}

// `spread`: the effect of the elements' errors on the deviation; `error`: the effect of rounding on
// the variance, which may become negative where the square of a mean was subtracted.
Deviation deviation_of(double variance, double spread, double error, double epsilon) {
  const double low = std::max(0.0, std::sqrt(variance) - spread);
  const double high = std::sqrt(variance) + spread;
  return {.value = std::sqrt(variance + epsilon),
          .low = std::sqrt(std::max(0.0, low * low - error + epsilon)),
          .high = std::sqrt(high * high + error + epsilon)};
}

// (x - mean) / deviation, where the difference has an error of up to `off`. The error is infinite
// if the deviation may be 0.
Estimate over_deviation(double difference, double off, const Deviation& deviation) {
  // The result of 0 / 0, or of the root of a negative number, depends on the device.
  if (deviation.low == 0) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
  const double size = std::abs(difference);
  const double value = size / deviation.value;
  const double high = (size + off) / deviation.low;
  const double low = size > off ? (size - off) / deviation.high : (size - off) / deviation.low;
  return {difference / deviation.value, std::max(high - value, value - low)};
}

NormalisationOp::NormalisationOp(std::vector<Output> outputs, Tensor& x, Groups groups,
                                 const NormalForm& form, const Arithmetic& arithmetic)
    : Operator(std::move(outputs)),
      x_(x),
      groups_(std::move(groups)),
      form_(form),
      arithmetic_(arithmetic) {}

Estimate NormalisationOp::element(std::size_t output, std::uint64_t number) {
  if (output == 1)
    return rounded({moments_of(number).mean, moments_of(number).mean_error}, arithmetic_);
  if (output == 2)
    return rounded(over_deviation(1, 4 * kFloat32, moments_of(number).deviation), arithmetic_);
  const Moments& moments = moments_of(groups_.group_of(number));
  const Estimate x = x_.at(number);
  const double off =
      x.error + moments.mean_error + 2 * kFloat32 * (std::abs(x.value) + std::abs(moments.mean));
  Estimate normal = over_deviation(x.value - moments.mean, off, moments.deviation);
  if (std::isinf(normal.error)) return normal;
  normal.error += 4 * kFloat32 * std::abs(normal.value);
  const Affine affine{form_.scale, form_.bias};
  const Estimate found = affine.of(normal, form_.place_of(number), arithmetic_.result);
  return rounded(rounded(found, arithmetic_), arithmetic_);
}

double NormalisationOp::mean_of(std::span<const double> x) const {
  if (form_.about_zero) return 0;
  double sum = 0;
  for (const double number : x) sum += number;
  return sum / static_cast<double>(x.size());
}

void NormalisationOp::of_group(std::span<const double> x, std::span<double> into) const {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double number : x) squares += (number - mean) * (number - mean);
  const double variance = squares / static_cast<double>(x.size());
  const double deviation = std::sqrt(variance + form_.epsilon) + form_.beside_root;
  for (std::size_t i = 0; i < x.size(); ++i) into[i] = (x[i] - mean) / deviation;
}

GroupInside NormalisationOp::inside(std::span<const double> x, const RoundNumber& round) const {
  const double mean = mean_of(x);
  double squares = 0;
  double narrow = 0;
  for (const double number : x) {
    const double apart = round(number - mean);
    squares += apart * apart;
    narrow += round(apart * apart);
  }
  const auto n = static_cast<double>(x.size());
  return {squares, squares / n + form_.epsilon, narrow / n + round(form_.epsilon)};
}

const Moments& NormalisationOp::moments_of(std::uint64_t group) {
  return kept_.get(group, [&] { return find(group); });
}

Moments NormalisationOp::find(std::uint64_t group) {
  Moments moments;
  const auto n = static_cast<double>(groups_.size());
  double magnitude = 0;
  double linear = 0;  // sum of errors
  double squares = 0;
  double error_squares = 0;
  groups_.for_each(x_, group, [&](const Estimate& x) {
    moments.mean += x.value;
    squares += x.value * x.value;
    magnitude += std::abs(x.value);
    linear += x.error;
    error_squares += x.error * x.error;
  });
  const double steps = std::min(n, 4 + std::sqrt(n));
  moments.mean /= n;
  squares /= n;
  moments.mean_error = linear / n + arithmetic_.accumulator * steps * magnitude / n;
  double variance = squares;
  if (form_.about_zero) {
    moments.mean = moments.mean_error = 0;
  } else {
    variance = 0;
    groups_.for_each(x_, group, [&](const Estimate& x) {
      const double apart = x.value - moments.mean;
      variance += apart * apart;
    });
    variance /= n;
  }
  // Devices subtract the square of the mean from the mean of squares, which cancels, or read the
  // elements twice.
  const double cancelled = n > 1 ? (4 + std::sqrt(n)) * squares : 0;
  const double error = arithmetic_.accumulator * (steps * variance + cancelled);
  moments.deviation = deviation_of(variance, std::sqrt(error_squares / n), error, form_.epsilon);
  if (form_.beside_root > 0) {
    // Some devices add it to the variance.
    Deviation& deviation = moments.deviation;
    const double within = std::sqrt(deviation.high * deviation.high + form_.beside_root);
    deviation.value += form_.beside_root;
    deviation.low += form_.beside_root;
    deviation.high = std::max(deviation.high + form_.beside_root, within);
  }
  return moments;
}

// Batch normalisation, with the given statistics.

class BatchNormalisationOp final : public Operator {
 public:
  BatchNormalisationOp(Tensor& x, Affine affine, Tensor& mean, Tensor& variance, double epsilon,
                       const Arithmetic& arithmetic)
      : Operator({x.dims(), x.dtype()}),
        x_(x),
        affine_(affine),
        mean_(mean),
        variance_(variance),
        epsilon_(epsilon),
        arithmetic_(arithmetic) {
    for (std::size_t d = 2; d < x.rank(); ++d) image_ *= x.dims()[d];
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t channel = x_.rank() < 2 ? 0 : number / image_ % x_.dims()[1];
    const Estimate x = x_.at(number);
    const Estimate mean = mean_.at(channel);
    const Estimate variance = variance_.at(channel);
    const Deviation deviation = deviation_of(variance.value, 0, variance.error, epsilon_);
    Estimate normal = over_deviation(x.value - mean.value, x.error + mean.error, deviation);
    if (std::isinf(normal.error)) return normal;
    // Devices fold everything into one product and one sum, whose terms may be larger than the
    // result.
    const double parts = (std::abs(x.value) + std::abs(mean.value)) / deviation.value;
    normal.error += (4 * kFloat32 + arithmetic_.operand) * parts;
    return rounded(rounded(affine_.of(normal, channel, 0), arithmetic_), arithmetic_);
  }

  std::vector<Dims> places() const override {
    Dims channels(x_.rank() < 2 ? 1 : x_.rank() - 1, 1);
    channels[0] = x_.rank() < 2 ? 1 : x_.dims()[1];
    return {x_.dims(), channels, channels, channels, channels};
  }
  void at_places(std::span<const std::span<const double>> inputs,
                 std::span<double> into) const override {
    for (std::size_t i = 0; i < into.size(); ++i)
      into[i] = (inputs[0][i] - inputs[3][i]) / std::sqrt(inputs[4][i] + epsilon_) * inputs[1][i] +
                inputs[2][i];
  }

 private:
  Tensor& x_;
  Affine affine_;
  Tensor& mean_;
  Tensor& variance_;
  double epsilon_;
  std::uint64_t image_ = 1;
  const Arithmetic& arithmetic_;
};

std::unexpected<Error> no_scale() {
  return not_computed("its scale or bias does not fit its input");
}

OperatorResult make_batch(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  std::array<Tensor*, 4> parts{};
  const std::uint64_t channels = x->rank() < 2 ? 1 : x->dims()[1];
  // Before version 14, outputs after the first mean training.
  if (call.integer("training_mode", 0) != 0 || (call.version < 14 && call.outputs > 1))
    return not_computed("its statistics are those of the batch");
  if (x->elements() == 0) return not_computed("it is empty");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    BTF_ASSIGN(parts[i], call.input(i + 1));
    if (parts[i]->elements() != channels) return no_scale();
  }
  return std::make_unique<BatchNormalisationOp>(*x, Affine{parts[0], parts[1]}, *parts[2],
                                                *parts[3], call.real("epsilon", 1e-5),
                                                call.arithmetic);
}

OperatorResult normalised(const Call& call, Tensor& x, const std::vector<bool>& taken,
                          const NormalForm& form, bool has_statistics = false) {
  if (x.elements() == 0) return not_computed("it is empty");
  Groups groups(x.dims(), taken);
  BTF_TRY(check_terms(groups.size()));
  std::vector<Operator::Output> outputs{{x.dims(), x.dtype()}};
  if (has_statistics) {
    Dims dims = x.dims();
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (taken[d]) dims[d] = 1;
    outputs.insert(outputs.end(), 2, {std::move(dims), DType::float32});
  }
  return std::make_unique<NormalisationOp>(std::move(outputs), x, std::move(groups), form,
                                           call.arithmetic);
}

// Over the last dims, beginning with an axis; scale and bias have those dims.
OperatorResult make_layer(const Call& call, bool about_zero) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const scale, call.input(1));
  BTF_ASSIGN(const std::size_t axis, axis_of(call.integer("axis", -1), x->rank()));
  std::vector<bool> taken(x->rank(), false);
  std::fill(taken.begin() + static_cast<std::ptrdiff_t>(axis), taken.end(), true);
  NormalForm form{.scale = scale,
                  .bias = call.has_input(2) ? call.inputs[2] : nullptr,
                  .epsilon = call.real("epsilon", 1e-5),
                  .about_zero = about_zero};
  const Dims last(x->dims().begin() + static_cast<std::ptrdiff_t>(axis), x->dims().end());
  BTF_ASSIGN(const Dims all, broadcast(scale->dims(), last));
  if (all != last || (form.bias != nullptr && form.bias->dims() != scale->dims()))
    return no_scale();
  form.places = Broadcast(scale->dims(), last);
  form.inner = element_count(last).value_or(0);
  return normalised(call, *x, taken, form, !about_zero);
}

OperatorResult make_layer_normalised(const Call& call) { return make_layer(call, false); }
OperatorResult make_rms_normalised(const Call& call) { return make_layer(call, true); }

OperatorResult make_instance(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const scale, call.input(1));
  BTF_ASSIGN(Tensor* const bias, call.input(2));
  if (x->rank() < 3 || scale->elements() != x->dims()[1] || bias->elements() != x->dims()[1])
    return no_scale();
  std::vector<bool> taken(x->rank(), true);
  taken[0] = taken[1] = false;
  NormalForm form{.scale = scale, .bias = bias, .epsilon = call.real("epsilon", 1e-5)};
  form.channels = x->dims()[1];
  form.image = x->elements() / std::max<std::uint64_t>(1, x->dims()[0] * x->dims()[1]);
  form.per_channel = form.channels;
  return normalised(call, *x, taken, form);
}

// Views the input as [N, groups, rest], so that a group of channels is a single channel.
class GroupedView final : public Tensor {
 public:
  GroupedView(Tensor& x, Dims dims) : Tensor(std::move(dims), x.dtype()), x_(x) {}
  Estimate at(std::uint64_t number) override { return x_.at(number); }
  Operand operand(std::uint64_t number) override { return x_.operand(number); }
  void estimates(std::uint64_t first, std::uint64_t step, std::span<Estimate> into) override {
    x_.estimates(first, step, into);
  }
  bool exhausted() const override { return x_.exhausted(); }

 private:
  Tensor& x_;
};

class GroupNormalisationOp final : public Operator {
 public:
  GroupNormalisationOp(Dims dims, std::unique_ptr<Tensor> x, const NormalForm& form, Groups groups,
                       const Arithmetic& arithmetic)
      : Operator({std::move(dims), x->dtype()}),
        x_(std::move(x)),
        normalised_(outputs(), *x_, std::move(groups), form, arithmetic) {}
  Estimate element(std::size_t output, std::uint64_t number) override {
    return normalised_.element(output, number);
  }
  const Groups* groups() const override { return normalised_.groups(); }
  void of_group(std::span<const double> x, std::span<double> into) const override {
    normalised_.of_group(x, into);
  }
  GroupInside inside(std::span<const double> x, const RoundNumber& round) const override {
    return normalised_.inside(x, round);
  }

 private:
  std::unique_ptr<Tensor> x_;
  NormalisationOp normalised_;
};

OperatorResult make_group(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const scale, call.input(1));
  BTF_ASSIGN(Tensor* const bias, call.input(2));
  const std::int64_t given = call.integer("num_groups", 0);
  if (x->rank() < 2 || given < 1 || x->elements() == 0) return no_scale();
  const std::uint64_t channels = x->dims()[1];
  const auto groups = static_cast<std::uint64_t>(given);
  if (channels % groups != 0) return no_scale();
  // Version 18 has one scale per group.
  const std::uint64_t scales = scale->elements();
  if ((scales != channels && scales != groups) || bias->elements() != scales) return no_scale();
  const std::uint64_t batch = x->dims()[0];
  NormalForm form{.scale = scale, .bias = bias, .epsilon = call.real("epsilon", 1e-5)};
  form.channels = channels;
  form.image = x->elements() / batch / channels;
  form.per_channel = call.version < 21 && scales == groups ? groups : channels;
  auto regrouped =
      std::make_unique<GroupedView>(*x, Dims{batch, groups, x->elements() / batch / groups});
  Groups lines(regrouped->dims(), {false, false, true});
  BTF_TRY(check_terms(lines.size()));
  return std::make_unique<GroupNormalisationOp>(x->dims(), std::move(regrouped), form,
                                                std::move(lines), call.arithmetic);
}

OperatorResult make_mean_variance(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  std::vector<std::int64_t> axes = call.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  BTF_ASSIGN(const std::vector<bool> taken, dims_of_axes(axes, x->rank()));
  return normalised(call, *x, taken, NormalForm{.beside_root = 1e-9});
}

constexpr auto kNormalisingRows = std::to_array<OperatorRow>({
    {"BatchNormalization", 1, make_batch, ErrorPropagation::places},
    {"LayerNormalization", 17, make_layer_normalised, ErrorPropagation::groups},
    {"RMSNormalization", 23, make_rms_normalised, ErrorPropagation::groups},
    {"SimplifiedLayerNormalization", 1, make_rms_normalised, ErrorPropagation::groups},
    {"InstanceNormalization", 1, make_instance, ErrorPropagation::groups},
    {"GroupNormalization", 18, make_group, ErrorPropagation::groups},
    {"MeanVarianceNormalization", 9, make_mean_variance, ErrorPropagation::groups},
    {"LpNormalization", 1, make_lp_normalised, ErrorPropagation::groups},
    {"LRN", 1, make_lrn},
    {"Softmax", 1, make_softmax, ErrorPropagation::groups},
    {"LogSoftmax", 1, make_log_softmax, ErrorPropagation::groups},
    {"Hardmax", 1, make_hardmax, ErrorPropagation::none},
});

}  // namespace

std::span<const OperatorRow> normalising_rows() { return kNormalisingRows; }

}  // namespace btf::network
