// Products of codes: the sums are whole numbers, and exact.
#include <cmath>

#include "btf/try.h"
#include "network/operators/codes/codes.h"
#include "network/operators/products/product_makers.h"

namespace btf::network {
namespace {

// A product of what codes stand for, made by the operator for floats on codes less zero points. It
// owns these.
class IntegerProduct final : public Operator {
 public:
  IntegerProduct(std::unique_ptr<Tensor> a, std::unique_ptr<Tensor> b,
                 std::unique_ptr<Operator> product)
      : Operator({product->outputs()[0].dims, DType::int32}),
        a_(std::move(a)),
        b_(std::move(b)),
        product_(std::move(product)) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    // Whole numbers do not have the error of floats.
    return {product_->element(output, number).value, 0};
  }

 private:
  std::unique_ptr<Tensor> a_;
  std::unique_ptr<Tensor> b_;
  std::unique_ptr<Operator> product_;
};

Result<std::unique_ptr<IntegerProduct>> integer_product(const Call& call, Tensor& a, Tensor* a_zero,
                                                        Tensor& b, Tensor* b_zero,
                                                        std::size_t b_axis, MakeOperator make) {
  const auto fits = [](const Tensor& codes, const Tensor* zero, std::size_t axis) {
    return zero == nullptr || zero->elements() == 1 ||
           (axis < codes.rank() && zero->elements() == codes.dims()[axis]);
  };
  const std::size_t a_axis = a.rank() < 2 ? 0 : a.rank() - 2;
  if (!fits(a, a_zero, a_axis) || !fits(b, b_zero, b_axis))
    return not_computed("its zero points do not fit its codes");
  auto left = std::make_unique<Shifted>(a, a_zero, a_axis);
  auto right = std::make_unique<Shifted>(b, b_zero, b_axis);
  Call inner{.op = call.op,
             .version = call.version,
             .inputs = {left.get(), right.get()},
             .outputs = 1,
             .attributes = call.attributes,
             .arithmetic = call.arithmetic};
  BTF_ASSIGN(std::unique_ptr<Operator> product, make(inner));
  return std::make_unique<IntegerProduct>(std::move(left), std::move(right), std::move(product));
}

// Sums to codes again, by a scale for each channel.
class Requantised final : public Operator {
 public:
  struct Scales {
    double x = 1;
    Tensor* w = nullptr;
    double y = 1;
    double zero = 0;
    Tensor* bias = nullptr;
  };

  // `channels` elements of the dim that scales are of, which has `inner` behind it.
  Requantised(std::unique_ptr<Operator> sums, const Scales& scales, std::uint64_t channels,
              std::uint64_t inner, DType dtype)
      : Operator({sums->outputs()[0].dims, dtype}),
        sums_(std::move(sums)),
        scales_(scales),
        channels_(channels),
        inner_(inner) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    constexpr double kMultiplier = 4 * kFloat32;
    const std::uint64_t channel = number / inner_ % channels_;
    double sum = sums_->element(output, number).value;
    if (scales_.bias != nullptr) sum += scales_.bias->value(channel);
    const double scale = scales_.w->value(scales_.w->elements() == 1 ? 0 : channel);
    const double quotient = sum * (scales_.x * scale / scales_.y);
    return coded({quotient, kMultiplier * std::abs(quotient)}, scales_.zero, outputs()[0].dtype);
  }

 private:
  std::unique_ptr<Operator> sums_;
  Scales scales_;
  std::uint64_t channels_;
  std::uint64_t inner_;
};

// Inputs: x, its scale, its zero point, w, its scale, its zero point, the result's scale and zero
// point.
MadeOperator coded_product(const Call& call, bool matrices) {
  std::array<Tensor*, 8> in{};
  for (std::size_t i = 0; i < in.size(); ++i) {
    BTF_ASSIGN(in[i], call.input(i));
  }
  for (const std::size_t i : {1U, 6U, 7U})
    if (in[i]->elements() != 1) return not_computed("its scales are several");
  const std::size_t axis = !matrices ? 0 : in[3]->rank() < 2 ? 0 : in[3]->rank() - 1;
  BTF_ASSIGN(std::unique_ptr<Operator> sums,
             integer_product(call, *in[0], in[2], *in[3], in[5], axis,
                             matrices ? make_matmul : make_conv));
  const Dims& dims = sums->outputs()[0].dims;
  const std::size_t dim = matrices ? dims.size() - 1 : 1;
  const std::uint64_t channels = dims.empty() ? 1 : dims[dim];
  std::uint64_t inner = 1;
  for (std::size_t d = dim + 1; d < dims.size(); ++d) inner *= dims[d];
  Tensor* const bias = !matrices && call.has_input(8) ? call.inputs[8] : nullptr;
  if ((in[4]->elements() != 1 && in[4]->elements() != channels) ||
      (bias != nullptr && bias->elements() != channels))
    return not_computed("its scales or its bias do not fit its channels");
  return std::make_unique<Requantised>(
      std::move(sums),
      Requantised::Scales{in[1]->value(0), in[4], in[6]->value(0), in[7]->value(0), bias}, channels,
      inner, in[7]->dtype());
}

}  // namespace

MadeOperator make_integer_matmul(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  return integer_product(call, *a, call.has_input(2) ? call.inputs[2] : nullptr, *b,
                         call.has_input(3) ? call.inputs[3] : nullptr,
                         b->rank() < 2 ? 0 : b->rank() - 1, make_matmul);
}

MadeOperator make_integer_conv(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  return integer_product(call, *a, call.has_input(2) ? call.inputs[2] : nullptr, *b,
                         call.has_input(3) ? call.inputs[3] : nullptr, 0, make_conv);
}

MadeOperator make_coded_matmul(const Call& call) { return coded_product(call, true); }
MadeOperator make_coded_conv(const Call& call) { return coded_product(call, false); }

}  // namespace btf::network
