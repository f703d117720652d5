// Casts with a scale, exact but for the one rounding of the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/cast.h"
#include "kernels/number/number.h"

namespace btf {

namespace number {

// a / b and a * b, with the lowest bit of the significand set when digits were lost: rounding that
// to 62 bits or fewer gives what rounding the exact result gives. `b` is not infinite; NaN is
// passed on, and a quotient by zero is zero.
Number quotient(const Number& a, const Number& b);
Number product(const Number& a, const Number& b);

Number from_double(double value);

// Beyond 64 bits: Inf.
__extension__ using Integer = __int128;
Number from_integer(Integer value);

}  // namespace number

struct ScaledCast {
  DType from{};
  DType to{};
  CastPolicy policy;
  std::int64_t zero_point = 0;
};

// round(x / scale) + zero_point, before it is clamped: an integer, or Inf beyond 64 bits.
Number shifted_code(const Number& x, const Number& scale, const ScaledCast& cast);

// (code - zero_point) * scale.
Number scaled_up(const Number& code, const Number& scale, std::int64_t zero_point);

// n elements that stand side by side on both sides, all with one scale. A scale of 0 stands for a
// block of zeros: the codes are those of 0.
void quantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                  std::byte* target, std::uint64_t n, LossAccount& account);
void dequantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                    std::byte* target, std::uint64_t n, LossAccount& account);

}  // namespace btf
