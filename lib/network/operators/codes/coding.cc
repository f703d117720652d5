// Numbers to other types and back.
#include <array>
#include <cmath>
#include <limits>

#include "btf/try.h"
#include "formats/onnx/types.h"
#include "network/operators/codes/codes.h"
#include "network/operators/families.h"

namespace btf::network {
namespace {

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
    // What a type cannot hold becomes one thing here and another there.
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

  // The largest number of types with Inf, which is what is beyond it.
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

MadeOperator make_cast(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  const OnnxType* const type = find_onnx_type(static_cast<std::uint64_t>(call.integer("to", 0)));
  if (type == nullptr || !type->dtype) return not_computed("its target type is not supported");
  return std::make_unique<Cast>(*x, *type->dtype);
}

MadeOperator make_cast_like(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(Tensor* const like, call.input(1));
  return std::make_unique<Cast>(*x, like->dtype());
}

constexpr auto kCodingRows = std::to_array<OperatorRow>({
    {"Cast", 6, make_cast, Passing::moved},
    {"CastLike", 15, make_cast_like, Passing::moved},
    {"QuantizeLinear", 10, make_quantize},
    {"DequantizeLinear", 10, make_dequantize},
    {"DynamicQuantizeLinear", 11, make_dynamic_quantize},
    {"MatMulInteger", 10, make_integer_matmul},
    {"ConvInteger", 10, make_integer_conv},
    {"QLinearMatMul", 10, make_coded_matmul},
    {"QLinearConv", 10, make_coded_conv},
    {"QuantizeLinear", 1, make_quantize, Passing::unknown, "com.microsoft"},
    {"DequantizeLinear", 1, make_dequantize, Passing::unknown, "com.microsoft"},
});

}  // namespace

std::span<const OperatorRow> coding_rows() { return kCodingRows; }

}  // namespace btf::network
