// Sums of products of elements of two tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"
#include "network/node.h"
#include "network/operators/operators.h"
#include "network/operators/pooling.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

inline void add_product(Sum& sum, const Tensor::Operand& a, const Tensor::Operand& b) {
  const double left = a.own * b.value;
  const double right = b.own * a.value;
  sum.add_square(a.value * b.value, left * left + right * right,
                 a.error * std::abs(b.value) + b.error * std::abs(a.value));
}

// Products of operands whose numbers are given one after the other; read several at a time.
class Products {
 public:
  Products(Sum& sum, Tensor& a, Tensor& b) : sum_(sum), a_(a), b_(b) {}

  void add(std::uint64_t a, std::uint64_t b) {
    a_numbers_[count_] = a;
    b_numbers_[count_] = b;
    if (++count_ == kAtOnce) flush();
  }
  // False if one of the tensors is exhausted; the sum is void then.
  bool done() {
    flush();
    return available_;
  }
  bool available() const { return available_; }

 private:
  void flush() {
    if (available_ && count_ > 0) {
      a_.operands(std::span(a_numbers_).first(count_), std::span(a_operands_).first(count_));
      b_.operands(std::span(b_numbers_).first(count_), std::span(b_operands_).first(count_));
      available_ = !a_.exhausted() && !b_.exhausted();
      for (std::size_t i = 0; available_ && i < count_; ++i)
        add_product(sum_, a_operands_[i], b_operands_[i]);
    }
    count_ = 0;
  }

  static constexpr std::size_t kAtOnce = 64;

  Sum& sum_;
  Tensor& a_;
  Tensor& b_;
  std::size_t count_ = 0;
  bool available_ = true;
  std::array<std::uint64_t, kAtOnce> a_numbers_;
  std::array<std::uint64_t, kAtOnce> b_numbers_;
  std::array<Tensor::Operand, kAtOnce> a_operands_;
  std::array<Tensor::Operand, kAtOnce> b_operands_;
};

constexpr std::uint64_t kCheckedEvery = 64;  // terms, until exhausted tensors end a sum

inline void add_term(Sum& sum, const Tensor::Operand& a) { sum.add(a.value, a.own, a.error); }

constexpr auto kProductRows = std::to_array<OperatorRow>({
    {"MatMul", 1, make_matmul, ErrorPropagation::products},
    {"Gemm", 1, make_gemm, ErrorPropagation::products},
    {"Conv", 1, make_conv, ErrorPropagation::products},
    {"ConvTranspose", 1, make_conv_transpose, ErrorPropagation::products},
    {"Einsum", 12, make_einsum, ErrorPropagation::products},
});

}  // namespace

std::span<const OperatorRow> product_rows() { return kProductRows; }

namespace {

// Convolutions.

struct ConvShape {
  std::uint64_t groups = 1;
  std::uint64_t inputs = 0;   // input channels of a group
  std::uint64_t outputs = 0;  // output channels of a group
  Dims spatial;               // of the input
  Dims kernel;
};

std::unexpected<Error> no_weights(const Tensor& x, const Tensor& w) {
  return not_computed("its weights " + dims_text(w.dims()) + " do not fit its input " +
                      dims_text(x.dims()));
}

// The base of Conv and ConvTranspose, which differ in the input that a tap reads.
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
    if (own <= kMaxKept) {
      const Place& place = place_at(std::move(index), own);
      weights_.resize(own);
      w_.operands(channel * own, weights_);
      for (const auto& [weight, x] : place.inputs) add_product(sum, x, weights_[weight]);
    } else {
      Products products(sum, x_, w_);
      for_each_input(index, [&](std::uint64_t weight, std::uint64_t x) {
        products.add(x, channel * own + weight);
      });
      if (!products.done()) return kNotAvailable;
    }
    if (bias_ != nullptr) add_term(sum, bias_->operand(channel));
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

 private:
  static constexpr std::uint64_t kMaxKept = 1U << 16;  // inputs of all places

  struct Input {
    std::uint64_t weight = 0;  // its number among those of a channel
    Tensor::Operand x{};
  };
  struct Place {
    Dims at;  // of an output, with its group instead of its channel
    std::vector<Input> inputs;
  };

  // `index`: of an output, with its group instead of its channel.
  template <typename Take>
  void for_each_input(const Dims& index, Take&& take) {
    const std::uint64_t first = index[0] * x_.dims()[1] + index[1] * shape_.inputs;
    for (std::uint64_t c = 0; c < shape_.inputs; ++c)
      for_each_tap(axes_, std::span(index).subspan(2), [&](std::uint64_t tap, std::uint64_t place) {
        take(c * taps_ + tap, (first + c) * image_ + place);
      });
  }

  // All channels of a group read the same inputs at a place; `own` of them if none is padding.
  const Place& place_at(Dims index, std::uint64_t own) {
    const auto known = std::ranges::find(places_, index, &Place::at);
    if (known != places_.end()) return *known;
    if ((places_.size() + 1) * own > kMaxKept) places_.pop_front();
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

// One dim of a transposed convolution: input i and tap k contribute to i * stride + k * dilation -
// pad.
struct SpreadAxis {
  std::uint64_t input = 0;
  std::uint64_t kernel = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;

  // Calls take(tap, input) for the taps that contribute to this output, and for no others. False
  // once take() is.
  template <typename Take>
  bool for_each_tap(std::uint64_t output, Take&& take) const {
    // Every `period`-th tap falls on an input.
    const std::int64_t common = std::gcd(stride, dilation);
    const std::int64_t period = stride / common;
    const std::int64_t at = static_cast<std::int64_t>(output) + pad;
    if (at < 0 || at % common != 0 || input == 0 || kernel == 0) return true;
    const std::int64_t beyond = at - (static_cast<std::int64_t>(input) - 1) * stride;
    const std::int64_t least = beyond <= 0 ? 0 : (beyond + dilation - 1) / dilation;
    const std::int64_t end = std::min(static_cast<std::int64_t>(kernel), at / dilation + 1);
    const std::int64_t aligned =
        at / common % period * inverse(dilation / common % period, period) % period;
    for (std::int64_t tap = least + (((aligned - least) % period) + period) % period; tap < end;
         tap += period)
      if (!take(static_cast<std::uint64_t>(tap),
                static_cast<std::uint64_t>((at - tap * dilation) / stride)))
        return false;
    return true;
  }

 private:
  // The number whose product with `number` is 1 modulo `modulus`, to which it is coprime.
  static std::int64_t inverse(std::int64_t number, std::int64_t modulus) {
    if (modulus == 1) return 0;
    std::int64_t rest = modulus;
    std::int64_t found = 1;
    std::int64_t other = 0;
    while (number > 1) {
      const std::int64_t times = number / rest;
      number = std::exchange(rest, number % rest);
      found = std::exchange(other, found - times * other);
    }
    return found < 0 ? found + modulus : found;
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
    Products products(sum, x_, w_);
    for_each_tap(std::span(index).subspan(2), 0, 0, 0, [&](std::uint64_t t, std::uint64_t place) {
      for (std::uint64_t c = 0; c < shape_.inputs; ++c) {
        const std::uint64_t input = group * shape_.inputs + c;
        products.add((index[0] * x_.dims()[1] + input) * image_ + place,
                     (input * shape_.outputs + channel) * taps_ + t);
      }
      return products.available();
    });
    if (!products.done()) return kNotAvailable;
    if (bias_ != nullptr) add_term(sum, bias_->operand(index[1]));
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

 private:
  // Calls take(tap, place) for those of the spatial dims from `d` on; both are row-major numbers.
  template <typename Take>
  bool for_each_tap(std::span<const std::uint64_t> output, std::size_t d, std::uint64_t tap,
                    std::uint64_t place, const Take& take) const {
    if (d == axes_.size()) return take(tap, place);
    return axes_[d].for_each_tap(output[d], [&](std::uint64_t k, std::uint64_t input) {
      return for_each_tap(output, d + 1, tap * axes_[d].kernel + k, place * axes_[d].input + input,
                          take);
    });
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

// The padding of a transposed convolution: removed from the output, or derived from its size.
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
    constexpr std::int64_t kMax = std::int64_t{1} << 31;
    if (strides[d] < 1 || dilations[d] < 1 || input > kMax || kernel > kMax)
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
    if (output < 1 || output > kMax) return not_computed("its output has no elements");
    axes.push_back({shape.spatial[d], shape.kernel[d], strides[d], dilations[d], begin});
    dims.push_back(static_cast<std::uint64_t>(output));
  }
  return dims;
}

}  // namespace

OperatorResult make_conv(const Call& call) {
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

OperatorResult make_conv_transpose(const Call& call) {
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

namespace {

// Products of matrices.

// Where a row or a column of an operand begins, and the distance between its elements.
struct MatrixLine {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
};

class MatMul final : public Operator {
 public:
  // `rows` or `columns` of 0: that operand is a vector.
  MatMul(Tensor& a, Tensor& b, Output output, const Dims& batch, std::uint64_t rows,
         std::uint64_t columns, std::uint64_t inner, const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        a_(a),
        b_(b),
        rows_(rows),
        columns_(columns),
        inner_(inner),
        arithmetic_(arithmetic),
        a_batch_(batch_of(a), batch),
        b_batch_(batch_of(b), batch) {}

  static Dims batch_of(const Tensor& tensor) {
    const std::size_t matrix = std::min<std::size_t>(tensor.rank(), 2);
    return {tensor.dims().begin(), tensor.dims().end() - static_cast<std::ptrdiff_t>(matrix)};
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t columns = std::max<std::uint64_t>(columns_, 1);
    const std::uint64_t rows = std::max<std::uint64_t>(rows_, 1);
    const std::uint64_t column = number % columns;
    const std::uint64_t row = number / columns % rows;
    const std::uint64_t batch = number / columns / rows;
    const MatrixLine left{(a_batch_.number(batch) * rows + row) * inner_, 1};
    const MatrixLine right{b_batch_.number(batch) * inner_ * columns + column, columns};
    Sum sum;
    Products products(sum, a_, b_);
    for (std::uint64_t k = 0; k < inner_ && products.available(); ++k)
      products.add(left.first + k * left.step, right.first + k * right.step);
    if (!products.done()) return kNotAvailable;
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(inner_); }

 private:
  Tensor& a_;
  Tensor& b_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint64_t inner_;
  const Arithmetic& arithmetic_;
  Broadcast a_batch_;
  Broadcast b_batch_;
};

class Gemm final : public Operator {
 public:
  struct Form {
    bool left_turned = false;
    bool right_turned = false;
    double alpha = 1;
    double beta = 1;
  };

  Gemm(Tensor& a, Tensor& b, Tensor* c, Output output, const Form& form, std::uint64_t inner,
       const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        a_(a),
        b_(b),
        c_(c),
        form_(form),
        rows_(outputs()[0].dims[0]),
        columns_(outputs()[0].dims[1]),
        inner_(inner),
        arithmetic_(arithmetic) {
    if (c_ != nullptr) c_place_ = Broadcast(c_->dims(), outputs()[0].dims);
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const std::uint64_t row = number / columns_;
    const std::uint64_t column = number % columns_;
    const MatrixLine left =
        form_.left_turned ? MatrixLine{row, rows_} : MatrixLine{row * inner_, 1};
    const MatrixLine right =
        form_.right_turned ? MatrixLine{column * inner_, 1} : MatrixLine{column, columns_};
    Sum sum;
    for (std::uint64_t k = 0; k < inner_; ++k) {
      if (k % kCheckedEvery == 0 && (a_.exhausted() || b_.exhausted())) return kNotAvailable;
      Tensor::Operand a = a_.operand(left.first + k * left.step);
      a.value *= form_.alpha;
      a.own *= form_.alpha;
      a.error *= std::abs(form_.alpha);
      add_product(sum, a, b_.operand(right.first + k * right.step));
    }
    if (c_ != nullptr) {
      const Tensor::Operand c = c_->operand(c_place_.number(number));
      sum.add(form_.beta * c.value, form_.beta * c.own, std::abs(form_.beta) * c.error);
    }
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(inner_); }

 private:
  Tensor& a_;
  Tensor& b_;
  Tensor* c_;
  Form form_;
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint64_t inner_;
  const Arithmetic& arithmetic_;
  Broadcast c_place_;
};

std::unexpected<Error> no_product(const Tensor& a, const Tensor& b) {
  return not_computed("its inputs " + dims_text(a.dims()) + " and " + dims_text(b.dims()) +
                      " are no product");
}

}  // namespace

OperatorResult make_matmul(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  if (a->rank() == 0 || b->rank() == 0) return no_product(*a, *b);
  const bool vector_left = a->rank() == 1;
  const bool vector_right = b->rank() == 1;
  const std::uint64_t inner = a->dims().back();
  if ((vector_right ? b->dims()[0] : b->dims()[b->rank() - 2]) != inner) return no_product(*a, *b);
  BTF_ASSIGN(const Dims batch, broadcast(MatMul::batch_of(*a), MatMul::batch_of(*b)));
  BTF_TRY(check_terms(inner));
  Dims dims = batch;
  const std::uint64_t rows = vector_left ? 0 : a->dims()[a->rank() - 2];
  const std::uint64_t columns = vector_right ? 0 : b->dims().back();
  if (!vector_left) dims.push_back(rows);
  if (!vector_right) dims.push_back(columns);
  return std::make_unique<MatMul>(*a, *b, Operator::Output{dims, a->dtype()}, batch, rows, columns,
                                  inner, call.arithmetic);
}

OperatorResult make_gemm(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  if (a->rank() != 2 || b->rank() != 2) return no_product(*a, *b);
  const Gemm::Form form{call.integer("transA", 0) != 0, call.integer("transB", 0) != 0,
                        call.real("alpha", 1), call.real("beta", 1)};
  const std::uint64_t inner = a->dims()[form.left_turned ? 0 : 1];
  if (b->dims()[form.right_turned ? 1 : 0] != inner) return no_product(*a, *b);
  BTF_TRY(check_terms(inner));
  const Dims dims{a->dims()[form.left_turned ? 1 : 0], b->dims()[form.right_turned ? 0 : 1]};
  Tensor* const c = call.has_input(2) ? call.inputs[2] : nullptr;
  if (c != nullptr) {
    BTF_ASSIGN(const Dims all, broadcast(c->dims(), dims));
    if (all != dims) return no_product(*a, *c);
  }
  return std::make_unique<Gemm>(*a, *b, c, Operator::Output{dims, a->dtype()}, form, inner,
                                call.arithmetic);
}

namespace {

// Einsum: sums over the letters of an equation that its result does not name.

// Labels of an operand's dims. The dims of an ellipsis have labels of their own: '0' for the last
// one, '1' for the one before it.
using Labels = std::string;

constexpr std::string_view kEllipsis = "...";
constexpr std::size_t kMaxHidden = 10;  // dims of an ellipsis

Result<Labels> labels_of(std::string_view text, std::size_t hidden) {
  Labels labels;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kEllipsis)) {
      for (std::size_t d = hidden; d-- > 0;) labels += static_cast<char>('0' + d);
      at += kEllipsis.size() - 1;
    } else if ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z')) {
      labels += text[at];
    } else {
      return not_computed("its equation cannot be read");
    }
  }
  return labels;
}

struct EinsumTerm {
  Tensor* tensor = nullptr;
  Dims result_steps;  // in this operand, for each dim of the result
  Dims summed_steps;  // for each label that is summed over
};

class Einsum final : public Operator {
 public:
  Einsum(std::vector<EinsumTerm> terms, Dims summed, std::uint64_t count, Output output,
         const Arithmetic& arithmetic)
      : Operator(std::move(output)),
        terms_(std::move(terms)),
        summed_(std::move(summed)),
        count_(count),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    std::vector<std::uint64_t> first;
    for (const EinsumTerm& term : terms_) first.push_back(along(index, term.result_steps));
    Sum sum;
    Dims at(summed_.size());
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (i % kCheckedEvery == 0 && terms_[0].tensor->exhausted()) return kNotAvailable;
      index_into(i, summed_, at);
      Tensor::Operand product{1, 0, 0};
      for (std::size_t t = 0; t < terms_.size(); ++t) {
        const Tensor::Operand next =
            terms_[t].tensor->operand(first[t] + along(at, terms_[t].summed_steps));
        product = {product.value * next.value,
                   std::hypot(product.own * next.value, next.own * product.value),
                   product.error * std::abs(next.value) + next.error * std::abs(product.value)};
        // Three factors are two products; the first is rounded like any result.
        if (t > 0 && t + 1 < terms_.size())
          product.error += arithmetic_.result * std::abs(product.value);
      }
      add_term(sum, product);
    }
    return rounded(sum.result(arithmetic_.accumulator), arithmetic_);
  }

  double terms() const override { return static_cast<double>(count_); }

 private:
  static std::uint64_t along(const Dims& index, const Dims& steps) {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * steps[d];
    return number;
  }

  std::vector<EinsumTerm> terms_;
  Dims summed_;
  std::uint64_t count_;
  const Arithmetic& arithmetic_;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Without "->": the labels that occur once, in alphabetical order, after the ellipsis.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> seen;
  bool hidden = false;
  for (const std::string& operand : operands)
    for (const char c : operand) {
      hidden |= c == '.';
      if (c != '.') ++seen[c];
    }
  std::string result = hidden ? std::string(kEllipsis) : "";
  for (const auto& [label, times] : seen)
    if (times == 1) result += label;
  return result;
}

Dims steps_of(const Labels& own, const Dims& dims, const Labels& wanted) {
  const Dims strides = row_major_strides(dims);
  Dims steps(wanted.size(), 0);
  for (std::size_t w = 0; w < wanted.size(); ++w)
    for (std::size_t d = 0; d < own.size(); ++d)
      if (own[d] == wanted[w] && dims[d] != 1) steps[w] += strides[d];
  return steps;
}

}  // namespace

OperatorResult make_einsum(const Call& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> operands = split(equation.substr(0, arrow), ',');
  const std::string result =
      arrow == std::string::npos ? implied_result(operands) : equation.substr(arrow + 2);
  if (operands.size() != call.inputs.size())
    return not_computed("its equation has " + std::to_string(operands.size()) + " operands");
  std::map<char, std::uint64_t> sizes;
  std::vector<Labels> labels;
  std::size_t most_hidden = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    BTF_ASSIGN(Tensor* const tensor, call.input(i));
    const bool has_hidden = operands[i].contains(kEllipsis);
    const std::size_t named = operands[i].size() - (has_hidden ? kEllipsis.size() : 0);
    if (named > tensor->rank() || (!has_hidden && named != tensor->rank()) ||
        tensor->rank() - named > kMaxHidden)
      return not_computed("its equation does not fit its inputs");
    const std::size_t hidden = tensor->rank() - named;
    most_hidden = std::max(most_hidden, hidden);
    BTF_ASSIGN(labels.emplace_back(), labels_of(operands[i], hidden));
    if (labels[i].size() != tensor->rank()) return not_computed("its equation cannot be read");
    for (std::size_t d = 0; d < tensor->rank(); ++d) {
      std::uint64_t& size = sizes.try_emplace(labels[i][d], 1).first->second;
      if (size != 1 && tensor->dims()[d] != 1 && size != tensor->dims()[d])
        return not_computed("its equation does not fit its inputs");
      if (size == 1) size = tensor->dims()[d];
    }
  }
  BTF_ASSIGN(const Labels wanted, labels_of(result, most_hidden));
  Labels summed;
  Dims dims;
  Dims summed_dims;
  for (const char label : wanted) {
    if (!sizes.contains(label) || std::ranges::count(wanted, label) > 1)
      return not_computed("its equation cannot be read");
    dims.push_back(sizes[label]);
  }
  for (const auto& [label, size] : sizes) {
    if (wanted.contains(label)) continue;
    summed += label;
    summed_dims.push_back(size);
  }
  const Checked count = element_count(summed_dims);
  BTF_TRY(check_terms(count.value_or(UINT64_MAX)));
  std::vector<EinsumTerm> terms;
  for (std::size_t i = 0; i < operands.size(); ++i)
    terms.push_back({call.inputs[i], steps_of(labels[i], call.inputs[i]->dims(), wanted),
                     steps_of(labels[i], call.inputs[i]->dims(), summed)});
  const DType dtype = call.inputs[0]->dtype();
  return std::make_unique<Einsum>(std::move(terms), std::move(summed_dims), *count,
                                  Operator::Output{std::move(dims), dtype}, call.arithmetic);
}

}  // namespace btf::network
