#include "fit/measure/narrow_type.h"

namespace btf {
namespace {

constexpr int kDoubleBias = 1023;

}  // namespace

NarrowType::NarrowType(DType dtype) : dtype_(dtype) {
  const FloatGeometry& fp = info(dtype).fp;
  const int digits = fp.mantissa_bits;
  const int least = 1 - fp.bias;
  const int most = (1 << fp.exponent_bits) - 2 - fp.bias;
  least_ = least + kDoubleBias;
  shift_ = kDigits - digits;
  unit_roundoff_ = std::ldexp(1.0, -digits - 1);
  largest_ = std::ldexp(2 - std::ldexp(1.0, -digits), most);
  smallest_ = std::ldexp(1.0, least - digits);
}

RoundingTo NarrowType::rounding() const {
  return {.least = std::ldexp(1.0, static_cast<int>(least_) - kDoubleBias),
          .factor = std::ldexp(1.5, static_cast<int>(shift_)),
          .limit = limit()};
}

}  // namespace btf
