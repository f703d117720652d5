// Codes and their numbers: scales, zero points, and products of codes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "btf/try.h"
#include "formats/onnx_model.h"
#include "network/node.h"
#include "network/operators/operators.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

// A code of an integer type: rounded to even and clamped to the range. `x` is the number divided by
// its scale.
Estimate coded(const Estimate& x, double zero_point, DType dtype);

// Scale and zero point: one for all, for each index of an axis, or for each block of an axis.
class CodeScales {
 public:
  // Fails if they do not fit the data.
  static Result<CodeScales> of(Tensor& scale, Tensor* zero_point, const Dims& data,
                               std::int64_t axis, std::int64_t block);

  Estimate scale(std::uint64_t number) const { return scale_->at(place(number)); }
  double zero_point(std::uint64_t number) const {
    return zero_point_ == nullptr ? 0 : zero_point_->value(place(number));
  }

 private:
  std::uint64_t place(std::uint64_t number) const;

  Tensor* scale_ = nullptr;
  Tensor* zero_point_ = nullptr;
  Dims data_{};
  std::size_t axis_ = 0;
  std::uint64_t block_ = 0;  // 0: no blocks
  std::uint64_t inner_ = 1;  // elements after the axis
};

// A tensor of codes minus the zero point, exactly.
class CenteredCodes final : public Tensor {
 public:
  // `zero_points`: one, or one for each index of `axis`.
  CenteredCodes(Tensor& codes, Tensor* zero_points, std::size_t axis);
  Estimate at(std::uint64_t number) override;
  Operand operand(std::uint64_t number) override { return {at(number).value, 0, 0}; }
  bool exhausted() const override { return codes_.exhausted(); }

 private:
  Tensor& codes_;
  Tensor* zero_points_;
  std::uint64_t inner_ = 1;
  std::uint64_t indices_ = 1;
};
OperatorResult make_integer_matmul(const Call& call);
OperatorResult make_integer_conv(const Call& call);
OperatorResult make_coded_matmul(const Call& call);
OperatorResult make_coded_conv(const Call& call);

// Quotients and multipliers are float32.
constexpr double kQuotient = 4 * kFloat32;

struct CodeRange {
  double least = 0;
  double most = 0;
};

CodeRange range_of(DType dtype) {
  const DTypeInfo& row = info(dtype);
  const double codes = std::ldexp(1.0, row.bits);
  const bool with_sign = row.kind == NumberKind::signed_integer;
  return {with_sign ? -codes / 2 : 0, (with_sign ? codes / 2 : codes) - 1};
}

bool is_code(DType dtype) {
  const DTypeInfo& row = info(dtype);
  return !row.floating() && row.kind != NumberKind::boolean && row.bits <= 16;
}

class QuantizeOp final : public Operator {
 public:
  QuantizeOp(Tensor& x, CodeScales scales, DType dtype)
      : Operator({x.dims(), dtype}), x_(x), scales_(std::move(scales)) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Estimate x = x_.at(number);
    const Estimate scale = scales_.scale(number);
    const double quotient = x.value / scale.value;
    return coded({quotient, x.error / std::abs(scale.value) + kQuotient * std::abs(quotient)},
                 scales_.zero_point(number), outputs()[0].dtype);
  }

 private:
  Tensor& x_;
  CodeScales scales_;
};

class DequantizeOp final : public Operator {
 public:
  DequantizeOp(Tensor& codes, CodeScales scales, DType dtype, const Arithmetic& arithmetic)
      : Operator({codes.dims(), dtype}),
        codes_(codes),
        scales_(std::move(scales)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Estimate code = codes_.at(number);
    const double scale = scales_.scale(number).value;
    return rounded(
        {(code.value - scales_.zero_point(number)) * scale, code.error * std::abs(scale)},
        arithmetic_);
  }

 private:
  Tensor& codes_;
  CodeScales scales_;
  const Arithmetic& arithmetic_;
};

// The scale and the zero point of a whole tensor: the outputs are codes, scale and zero point.
class DynamicQuantizeOp final : public Operator {
 public:
  explicit DynamicQuantizeOp(Tensor& x)
      : Operator({{x.dims(), DType::uint8}, {{}, DType::float32}, {{}, DType::uint8}}), x_(x) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    if (!found_) find();
    if (output == 1) return {scale_, kQuotient * scale_ + error_ / kCodes};
    if (output == 2) return zero_;
    const Estimate x = x_.at(number);
    if (scale_ == 0) return {zero_.value, 0};
    const double quotient = x.value / scale_;
    return coded({quotient,
                  zero_.error + (x.error + error_) / scale_ + kQuotient * (std::abs(quotient) + 1)},
                 zero_.value, DType::uint8);
  }

 private:
  static constexpr double kCodes = 255;

  void find() {
    found_ = true;
    double low = 0;
    double high = 0;
    for_each_element(x_, 0, 1, x_.elements(), [&](const Estimate& x) {
      low = std::min(low, x.value);
      high = std::max(high, x.value);
      error_ = std::max(error_, x.error);
    });
    scale_ = (high - low) / kCodes;
    if (scale_ > 0) zero_ = coded({-low / scale_, kQuotient * kCodes}, 0, DType::uint8);
  }

  Tensor& x_;
  bool found_ = false;
  double scale_ = 0;
  double error_ = 0;
  Estimate zero_{};
};

Result<CodeScales> scales_of(const Call& call, const Tensor& x) {
  BTF_ASSIGN(Tensor* const scale, call.input(1));
  return CodeScales::of(*scale, call.has_input(2) ? call.inputs[2] : nullptr, x.dims(),
                        call.integer("axis", 1), call.integer("block_size", 0));
}

Estimate coded(const Estimate& x, double zero_point, DType dtype) {
  // The code of NaN depends on the device.
  if (std::isnan(x.value)) return {x.value, HUGE_VAL};
  const auto [least, most] = range_of(dtype);
  const auto code = [&](double quotient) {
    return std::clamp(std::nearbyint(quotient) + zero_point, least, most);
  };
  const double value = code(x.value);
  // Near a half, a device may choose the neighbour.
  return {value, std::max(std::abs(code(x.value - x.error) - value),
                          std::abs(code(x.value + x.error) - value))};
}

Result<CodeScales> CodeScales::of(Tensor& scale, Tensor* zero_point, const Dims& data,
                                  std::int64_t axis, std::int64_t block) {
  const auto misfit = [&] {
    return not_computed("its scales " + dims_text(scale.dims()) + " do not fit its data " +
                        dims_text(data));
  };
  CodeScales scales;
  scales.scale_ = &scale;
  scales.zero_point_ = zero_point;
  scales.data_ = data;
  if (zero_point != nullptr && zero_point->elements() != scale.elements()) return misfit();
  if (scale.elements() == 1 && block <= 0) return scales;
  if (data.empty()) return misfit();
  BTF_ASSIGN(scales.axis_, axis_of(axis, data.size()));
  for (std::size_t d = scales.axis_ + 1; d < data.size(); ++d) scales.inner_ *= data[d];
  if (block <= 0)
    return scale.elements() == data[scales.axis_] ? Result<CodeScales>(scales) : misfit();
  scales.block_ = static_cast<std::uint64_t>(block);
  Dims blocks = data;
  blocks[scales.axis_] = (data[scales.axis_] + scales.block_ - 1) / scales.block_;
  if (scale.dims() != blocks) return misfit();
  return scales;
}

std::uint64_t CodeScales::place(std::uint64_t number) const {
  if (block_ > 0) {
    Dims index = index_of(number, data_);
    index[axis_] /= block_;
    return number_of(index, scale_->dims());
  }
  return scale_->elements() == 1 ? 0 : number / inner_ % data_[axis_];
}

CenteredCodes::CenteredCodes(Tensor& codes, Tensor* zero_points, std::size_t axis)
    : Tensor(codes.dims(), DType::int32), codes_(codes), zero_points_(zero_points) {
  if (zero_points == nullptr || zero_points->elements() == 1) return;
  indices_ = codes.dims()[axis];
  for (std::size_t d = axis + 1; d < codes.rank(); ++d) inner_ *= codes.dims()[d];
}

Estimate CenteredCodes::at(std::uint64_t number) {
  const Estimate code = codes_.at(number);
  if (zero_points_ == nullptr) return code;
  const std::uint64_t which = zero_points_->elements() == 1 ? 0 : number / inner_ % indices_;
  return {code.value - zero_points_->value(which), code.error};
}

OperatorResult make_quantize(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(CodeScales scales, scales_of(call, *x));
  DType dtype = call.has_input(2) ? call.inputs[2]->dtype() : DType::uint8;
  if (!call.has_input(2) && call.integer("output_dtype", 0) != 0) {
    const OnnxType* const type =
        find_onnx_type(static_cast<std::uint64_t>(call.integer("output_dtype", 0)));
    if (type == nullptr || !type->dtype) return not_computed("its codes are of an unknown type");
    dtype = *type->dtype;
  }
  if (!is_code(dtype)) return not_computed("its codes are no integers of up to 16 bits");
  return std::make_unique<QuantizeOp>(*x, std::move(scales), dtype);
}

OperatorResult make_dequantize(const Call& call) {
  BTF_ASSIGN(Tensor* const codes, call.input(0));
  BTF_ASSIGN(CodeScales scales, scales_of(call, *codes));
  return std::make_unique<DequantizeOp>(*codes, std::move(scales), call.inputs[1]->dtype(),
                                        call.arithmetic);
}

OperatorResult make_dynamic_quantize(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_TRY(check_terms(x->elements()));
  return std::make_unique<DynamicQuantizeOp>(*x);
}

// Conversion to other types.

class Cast final : public Operator {
 public:
  Cast(Tensor& x, DType to) : Operator({x.dims(), to}), x_(x), to_(info(to)) {
    if (to_.kind != NumberKind::boolean && !to_.floating()) {
      const double codes = std::ldexp(1.0, to_.bits);
      const bool with_sign = to_.kind == NumberKind::signed_integer;
      least_ = with_sign ? -codes / 2 : 0;
      most_ = (with_sign ? codes / 2 : codes) - 1;
    }
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const Estimate x = x_.at(number);
    if (to_.kind == NumberKind::boolean)
      return {x.value != 0 ? 1.0 : 0.0, std::abs(x.value) <= x.error && x.error > 0 ? 1.0 : 0.0};
    if (to_.floating()) return to_float(x);
    if (std::isnan(x.value)) return x;
    const double whole = std::trunc(x.value);
    const double reach = std::max(std::abs(std::trunc(x.value + x.error) - whole),
                                  std::abs(std::trunc(x.value - x.error) - whole));
    // Numbers that a type cannot hold become different things on different devices.
    if (x_.floating() && (whole < least_ || whole > most_)) return {whole, std::abs(whole) + most_};
    if (x_.floating()) return {whole, reach};
    const double codes = most_ - least_ + 1;
    return {whole - std::floor((whole - least_) / codes) * codes, 0};
  }

 private:
  Estimate to_float(const Estimate& x) const {
    if (!std::isfinite(x.value)) return x;
    const double half = std::ldexp(std::abs(x.value), -static_cast<int>(to_.fp.mantissa_bits + 1U));
    if (std::abs(x.value) > largest() + half)
      return {std::copysign(std::numeric_limits<double>::infinity(), x.value), 0};
    const bool exact = std::abs(x.value) < std::ldexp(1.0, to_.fp.mantissa_bits + 1) &&
                       std::trunc(x.value) == x.value;
    return {x.value, x.error + (exact ? 0 : half)};
  }

  // The largest number of types with Inf, beyond which results are Inf.
  double largest() const {
    if (to_.fp.specials != FloatSpecials::ieee) return std::numeric_limits<double>::infinity();
    return std::ldexp(2 - std::ldexp(1.0, -static_cast<int>(to_.fp.mantissa_bits)),
                      (1 << (to_.fp.exponent_bits - 1)) - 1);
  }

  Tensor& x_;
  const DTypeInfo& to_;
  double least_ = 0;
  double most_ = 0;
};

OperatorResult make_cast(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const OnnxType* const type = find_onnx_type(static_cast<std::uint64_t>(call.integer("to", 0)));
  if (type == nullptr || !type->dtype) return not_computed("its target type is not supported");
  return std::make_unique<Cast>(*x, *type->dtype);
}

OperatorResult make_cast_like(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const like, call.input(1));
  return std::make_unique<Cast>(*x, like->dtype());
}

constexpr auto kCodingRows = std::to_array<OperatorRow>({
    {"Cast", 6, make_cast, ErrorPropagation::moved},
    {"CastLike", 15, make_cast_like, ErrorPropagation::moved},
    {"QuantizeLinear", 10, make_quantize},
    {"DequantizeLinear", 10, make_dequantize},
    {"DynamicQuantizeLinear", 11, make_dynamic_quantize},
    {"MatMulInteger", 10, make_integer_matmul},
    {"ConvInteger", 10, make_integer_conv},
    {"QLinearMatMul", 10, make_coded_matmul},
    {"QLinearConv", 10, make_coded_conv},
    {"QuantizeLinear", 1, make_quantize, ErrorPropagation::unknown, "com.microsoft"},
    {"DequantizeLinear", 1, make_dequantize, ErrorPropagation::unknown, "com.microsoft"},
});

}  // namespace

std::span<const OperatorRow> coding_rows() { return kCodingRows; }

namespace {

// Products of codes: the sums are integers, and exact.

// A product of dequantised numbers, computed by the float operator on codes minus zero points. Owns
// these tensors.
class IntegerProduct final : public Operator {
 public:
  IntegerProduct(std::unique_ptr<Tensor> a, std::unique_ptr<Tensor> b,
                 std::unique_ptr<Operator> product)
      : Operator({product->outputs()[0].dims, DType::int32}),
        a_(std::move(a)),
        b_(std::move(b)),
        product_(std::move(product)) {}

  Estimate element(std::size_t output, std::uint64_t number) override {
    // Integers do not have the errors of floats.
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
  auto left = std::make_unique<CenteredCodes>(a, a_zero, a_axis);
  auto right = std::make_unique<CenteredCodes>(b, b_zero, b_axis);
  Call inner{.op = call.op,
             .version = call.version,
             .inputs = {left.get(), right.get()},
             .outputs = 1,
             .attributes = call.attributes,
             .arithmetic = call.arithmetic};
  BTF_ASSIGN(std::unique_ptr<Operator> product, make(inner));
  return std::make_unique<IntegerProduct>(std::move(left), std::move(right), std::move(product));
}

// Turns sums into codes, by a scale for each channel.
class RequantizeOp final : public Operator {
 public:
  struct Scales {
    double x = 1;
    Tensor* w = nullptr;
    double y = 1;
    double zero = 0;
    Tensor* bias = nullptr;
  };

  // `channels` elements of the dim with scales, each followed by `inner` elements.
  RequantizeOp(std::unique_ptr<Operator> sums, const Scales& scales, std::uint64_t channels,
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
OperatorResult coded_product(const Call& call, bool matrices) {
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
  return std::make_unique<RequantizeOp>(
      std::move(sums),
      RequantizeOp::Scales{in[1]->value(0), in[4], in[6]->value(0), in[7]->value(0), bias},
      channels, inner, in[7]->dtype());
}

OperatorResult make_integer_matmul(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  return integer_product(call, *a, call.has_input(2) ? call.inputs[2] : nullptr, *b,
                         call.has_input(3) ? call.inputs[3] : nullptr,
                         b->rank() < 2 ? 0 : b->rank() - 1, make_matmul);
}

OperatorResult make_integer_conv(const Call& call) {
  BTF_ASSIGN(Tensor* const a, call.input(0));
  BTF_ASSIGN(Tensor* const b, call.input(1));
  return integer_product(call, *a, call.has_input(2) ? call.inputs[2] : nullptr, *b,
                         call.has_input(3) ? call.inputs[3] : nullptr, 0, make_conv);
}

OperatorResult make_coded_matmul(const Call& call) { return coded_product(call, true); }
OperatorResult make_coded_conv(const Call& call) { return coded_product(call, false); }

}  // namespace
}  // namespace btf::network
