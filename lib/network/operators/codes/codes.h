// Codes and the numbers that they stand for: scales, zero points, and products of codes.
#pragma once

#include <optional>

#include "network/operators/operator.h"

namespace btf::network {

// A code of an integer type: rounded to even, and kept within its range. `x` is the number over its
// scale.
Estimate coded(const Estimate& x, double zero_point, DType dtype);

// One scale (and zero point) for all, for each index of an axis, or for each block of it.
class CodeScales {
 public:
  // An error: they do not fit the data.
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
  std::uint64_t inner_ = 1;  // elements behind the axis
};

// A tensor of codes as code - zero point, exactly.
class Shifted final : public Tensor {
 public:
  // `zero_points`: one, or one for each index of `axis`.
  Shifted(Tensor& codes, Tensor* zero_points, std::size_t axis);
  Estimate at(std::uint64_t number) override;
  Operand operand(std::uint64_t number) override { return {at(number).value, 0, 0}; }

 private:
  Tensor& codes_;
  Tensor* zero_points_;
  std::uint64_t inner_ = 1;
  std::uint64_t indices_ = 1;
};

MadeOperator make_quantize(const Call& call);
MadeOperator make_dequantize(const Call& call);
MadeOperator make_dynamic_quantize(const Call& call);
MadeOperator make_integer_matmul(const Call& call);
MadeOperator make_integer_conv(const Call& call);
MadeOperator make_coded_matmul(const Call& call);
MadeOperator make_coded_conv(const Call& call);

}  // namespace btf::network
