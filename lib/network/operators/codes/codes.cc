#include "network/operators/codes/codes.h"

#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "formats/onnx/types.h"
#include "network/node/strides.h"

namespace btf::network {
namespace {

// Quotients and multipliers are float32's.
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

class Quantised final : public Operator {
 public:
  Quantised(Tensor& x, CodeScales scales, DType dtype)
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

class Dequantised final : public Operator {
 public:
  Dequantised(Tensor& codes, CodeScales scales, DType dtype, const Arithmetic& arithmetic)
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

// The scale and the zero point of a whole tensor: codes, scale, zero point.
class DynamicallyQuantised final : public Operator {
 public:
  explicit DynamicallyQuantised(Tensor& x)
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
    for (std::uint64_t number = 0; number < x_.elements(); ++number) {
      const Estimate x = x_.at(number);
      low = std::min(low, x.value);
      high = std::max(high, x.value);
      error_ = std::max(error_, x.error);
    }
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

}  // namespace

Estimate coded(const Estimate& x, double zero_point, DType dtype) {
  // NaN becomes whatever a device makes of it.
  if (std::isnan(x.value)) return {x.value, HUGE_VAL};
  const auto [least, most] = range_of(dtype);
  const auto code = [&](double quotient) {
    return std::clamp(std::nearbyint(quotient) + zero_point, least, most);
  };
  const double value = code(x.value);
  // Near a half, a device may find the neighbour.
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

Shifted::Shifted(Tensor& codes, Tensor* zero_points, std::size_t axis)
    : Tensor(codes.dims(), DType::int32), codes_(codes), zero_points_(zero_points) {
  if (zero_points == nullptr || zero_points->elements() == 1) return;
  indices_ = codes.dims()[axis];
  for (std::size_t d = axis + 1; d < codes.rank(); ++d) inner_ *= codes.dims()[d];
}

Estimate Shifted::at(std::uint64_t number) {
  const Estimate code = codes_.at(number);
  if (zero_points_ == nullptr) return code;
  const std::uint64_t which = zero_points_->elements() == 1 ? 0 : number / inner_ % indices_;
  return {code.value - zero_points_->value(which), code.error};
}

MadeOperator make_quantize(const Call& call) {
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
  return std::make_unique<Quantised>(*x, std::move(scales), dtype);
}

MadeOperator make_dequantize(const Call& call) {
  BTF_ASSIGN(Tensor* const codes, call.input(0));
  BTF_ASSIGN(CodeScales scales, scales_of(call, *codes));
  return std::make_unique<Dequantised>(*codes, std::move(scales), call.inputs[1]->dtype(),
                                       call.arithmetic);
}

MadeOperator make_dynamic_quantize(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_TRY(check_terms(x->elements()));
  return std::make_unique<DynamicallyQuantised>(*x);
}

}  // namespace btf::network
