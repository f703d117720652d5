#include "fit/measure/narrow_type.h"

namespace btf {

NarrowType::NarrowType(DType dtype) : dtype_(dtype) {
  constexpr int kDoubleBias = 1023;
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

}  // namespace btf
