// Convolutions.
#include <algorithm>
#include <deque>

#include "btf/try.h"
#include "core/checked_math.h"
#include "network/node/strides.h"
#include "network/operators/products/product_makers.h"
#include "network/operators/products/products.h"
#include "network/operators/window.h"

namespace btf::network {
namespace {

struct ConvShape {
  std::uint64_t groups = 1;
  std::uint64_t inputs = 0;   // channels of the input in one group
  std::uint64_t outputs = 0;  // likewise of the output
  Dims spatial;               // of the input
  Dims kernel;
};

std::unexpected<Error> no_weights(const Tensor& x, const Tensor& w) {
  return not_computed("its weights " + dims_text(w.dims()) + " do not fit its input " +
                      dims_text(x.dims()));
}

// The base of both directions; they differ in how a tap finds its input.
template <typename Axis>
class Convolution : public Operator {
 public:
  Convolution(Tensor& x, Tensor& w, Tensor* bias, Output output, ConvShape shape,
              std::vector<Axis> axes, const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        x_(x),
        w_(w),
        bias_(bias),
        shape_(std::move(shape)),
        axes_(std::move(axes)),
        image_(element_count(shape_.spatial).value_or(0)),
        taps_(element_count(shape_.kernel).value_or(0)),
        arithmetic_(arithmetic) {}

  double terms() const override { return static_cast<double>(shape_.inputs * taps_); }

 protected:
  Tensor& x_;
  Tensor& w_;
  Tensor* bias_;
  ConvShape shape_;
  std::vector<Axis> axes_;
  std::uint64_t image_;
  std::uint64_t taps_;
  const Arithmetic& arithmetic_;
};

class Conv final : public Convolution<WindowAxis> {
 public:
  using Convolution::Convolution;

  Estimate element(std::size_t, std::uint64_t number) override {
    Dims index = index_of(number, outputs()[0].dims);
    const std::uint64_t channel = index[1];
    const std::uint64_t own = shape_.inputs * taps_;  // weights of a channel
    Sum sum;
    index[1] = channel / shape_.outputs;
    if (own <= kMostKept) {
      const Place& place = place_at(std::move(index), own);
      weights_.resize(own);
      w_.operands(channel * own, weights_);
      for (const auto& [weight, x] : place.inputs) add_product(sum, x, weights_[weight]);
    } else {
      for_each_input(index, [&](std::uint64_t weight, std::uint64_t x) {
        add_product(sum, x_.operand(x), w_.operand(channel * own + weight));
      });
    }
    if (bias_ != nullptr) add_term(sum, bias_->operand(channel));
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

 private:
  static constexpr std::uint64_t kMostKept = 1U << 16;  // inputs of all places

  struct Input {
    std::uint64_t weight = 0;  // its number among those of a channel
    Tensor::Operand x{};
  };
  struct Place {
    Dims at;  // of an output, with its group in place of its channel
    std::vector<Input> inputs;
  };

  // `index`: of an output, with its group in place of its channel.
  template <typename Take>
  void for_each_input(const Dims& index, Take&& take) {
    const std::uint64_t first = index[0] * x_.dims()[1] + index[1] * shape_.inputs;
    for (std::uint64_t c = 0; c < shape_.inputs; ++c)
      for_each_tap(axes_, std::span(index).subspan(2), [&](std::uint64_t tap, std::uint64_t place) {
        take(c * taps_ + tap, (first + c) * image_ + place);
      });
  }

  // All channels of a group take the same inputs at a place; `own` of them where none is padding.
  const Place& place_at(Dims index, std::uint64_t own) {
    const auto known = std::ranges::find(places_, index, &Place::at);
    if (known != places_.end()) return *known;
    if ((places_.size() + 1) * own > kMostKept) places_.pop_front();
    Place& place = places_.emplace_back(std::move(index));
    place.inputs.reserve(own);
    for_each_input(place.at, [&](std::uint64_t weight, std::uint64_t x) {
      place.inputs.push_back({weight, x_.operand(x)});
    });
    return place;
  }

  std::deque<Place> places_;
  std::vector<Tensor::Operand> weights_;
};

// One dim of a transposed convolution: input i and tap k meet in i * stride + k * dilation - pad.
struct SpreadAxis {
  std::uint64_t input = 0;
  std::uint64_t kernel = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;

  // The input that tap k brings to this output; nothing: none.
  std::optional<std::uint64_t> input_of(std::uint64_t output, std::uint64_t tap) const {
    const std::int64_t at =
        static_cast<std::int64_t>(output) + pad - static_cast<std::int64_t>(tap) * dilation;
    if (at < 0 || at % stride != 0) return std::nullopt;
    const auto found = static_cast<std::uint64_t>(at / stride);
    return found < input ? std::optional(found) : std::nullopt;
  }
};

class ConvTranspose final : public Convolution<SpreadAxis> {
 public:
  using Convolution::Convolution;

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    const std::uint64_t group = index[1] / shape_.outputs;
    const std::uint64_t channel = index[1] % shape_.outputs;
    Sum sum;
    Dims tap(axes_.size());
    for (std::uint64_t t = 0; t < taps_; ++t) {
      index_into(t, shape_.kernel, tap);
      const auto place = place_of(index, tap);
      if (!place) continue;
      for (std::uint64_t c = 0; c < shape_.inputs; ++c) {
        const std::uint64_t input = group * shape_.inputs + c;
        add_product(sum, x_.operand((index[0] * x_.dims()[1] + input) * image_ + *place),
                    w_.operand((input * shape_.outputs + channel) * taps_ + t));
      }
    }
    if (bias_ != nullptr) add_term(sum, bias_->operand(index[1]));
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

 private:
  std::optional<std::uint64_t> place_of(const Dims& index, const Dims& tap) const {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const auto input = axes_[d].input_of(index[d + 2], tap[d]);
      if (!input) return std::nullopt;
      place = place * axes_[d].input + *input;
    }
    return place;
  }
};

Result<Tensor*> bias_of(const Call& call, std::uint64_t channels) {
  if (!call.has_input(2)) return nullptr;
  Tensor* const bias = call.inputs[2];
  if (bias->elements() != channels)
    return not_computed("its bias has " + std::to_string(bias->elements()) + " elements, not " +
                        std::to_string(channels));
  return bias;
}

Result<ConvShape> shape_of(const Call& call, const Tensor& x, const Tensor& w) {
  ConvShape shape;
  const std::int64_t groups = call.integer("group", 1);
  if (x.rank() < 3 || w.rank() != x.rank() || groups < 1 || x.elements() == 0 || w.elements() == 0)
    return no_weights(x, w);
  shape.groups = static_cast<std::uint64_t>(groups);
  shape.spatial.assign(x.dims().begin() + 2, x.dims().end());
  shape.kernel.assign(w.dims().begin() + 2, w.dims().end());
  if (x.dims()[1] % shape.groups != 0) return no_weights(x, w);
  shape.inputs = x.dims()[1] / shape.groups;
  BTF_TRY(check_terms(w.elements() / std::max<std::uint64_t>(1, w.dims()[0])));
  BTF_TRY(check_terms(element_count(shape.kernel).value_or(UINT64_MAX)));
  return shape;
}

// The padding that a transposed convolution's output takes off, or that follows from its size.
Result<Dims> spread(const Call& call, const ConvShape& shape, std::vector<SpreadAxis>& axes) {
  const std::size_t count = shape.spatial.size();
  BTF_ASSIGN(const auto strides, per_dim(call, "strides", count, 1));
  BTF_ASSIGN(const auto dilations, per_dim(call, "dilations", count, 1));
  BTF_ASSIGN(const auto pads, per_dim(call, "pads", 2 * count, 0));
  BTF_ASSIGN(const auto more, per_dim(call, "output_padding", count, 0));
  const std::vector<std::int64_t> wanted = call.integers("output_shape");
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (!wanted.empty() && wanted.size() < count)
    return not_computed("its output_shape cannot be used");
  Dims dims;
  for (std::size_t d = 0; d < count; ++d) {
    const auto input = static_cast<std::int64_t>(shape.spatial[d]);
    const auto kernel = static_cast<std::int64_t>(shape.kernel[d]);
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (strides[d] < 1 || dilations[d] < 1 || input > kMost || kernel > kMost)
      return not_computed("its strides or dilations cannot be used");
    const std::int64_t reach = (input - 1) * strides[d] + more[d] + (kernel - 1) * dilations[d] + 1;
    std::int64_t begin = pads[d];
    std::int64_t output = reach - begin - pads[d + count];
    const bool same = automatic.starts_with("SAME");
    if (automatic == "VALID") {
      begin = 0;
      output = reach;
    }
    if (!wanted.empty() || same) {
      output = wanted.empty() ? input * strides[d] : wanted[wanted.size() - count + d];
      const std::int64_t padding = std::max<std::int64_t>(0, reach - output);
      begin = automatic == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
      if (automatic == "NOTSET") begin = padding / 2;
    }
    if (output < 1 || output > kMost) return not_computed("its output has no elements");
    axes.push_back({shape.spatial[d], shape.kernel[d], strides[d], dilations[d], begin});
    dims.push_back(static_cast<std::uint64_t>(output));
  }
  return dims;
}

}  // namespace

MadeOperator make_conv(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const w, call.input(1));
  BTF_ASSIGN(ConvShape shape, shape_of(call, *x, *w));
  const std::uint64_t channels = w->dims()[0];
  if (w->dims()[1] != shape.inputs || channels % shape.groups != 0) return no_weights(*x, *w);
  shape.outputs = channels / shape.groups;
  BTF_ASSIGN(Tensor* const bias, bias_of(call, channels));
  BTF_ASSIGN(std::vector<WindowAxis> axes, window_axes(call, shape.spatial, shape.kernel, false));
  Dims dims{x->dims()[0], channels};
  for (const WindowAxis& axis : axes) dims.push_back(axis.output);
  return std::make_unique<Conv>(*x, *w, bias, Operator::Output{std::move(dims), x->dtype()},
                                std::move(shape), std::move(axes), call.arithmetic);
}

MadeOperator make_conv_transpose(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const w, call.input(1));
  BTF_ASSIGN(ConvShape shape, shape_of(call, *x, *w));
  if (w->dims()[0] != x->dims()[1]) return no_weights(*x, *w);
  shape.outputs = w->dims()[1];
  const Checked channels = checked_mul(shape.outputs, shape.groups);
  if (!channels) return no_weights(*x, *w);
  BTF_ASSIGN(Tensor* const bias, bias_of(call, *channels));
  std::vector<SpreadAxis> axes;
  BTF_ASSIGN(const Dims spatial, spread(call, shape, axes));
  Dims dims{x->dims()[0], *channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return std::make_unique<ConvTranspose>(*x, *w, bias,
                                         Operator::Output{std::move(dims), x->dtype()},
                                         std::move(shape), std::move(axes), call.arithmetic);
}

}  // namespace btf::network
