// A number as a device has it that works in a narrow floating type.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "btf/dtype.h"
#include "kernels/stats/rounding_sums.h"

namespace btf {

class NarrowType {
 public:
  explicit NarrowType(DType dtype);

  DType dtype() const { return dtype_; }
  double unit_roundoff() const { return unit_roundoff_; }  // half a step, relative
  double largest() const { return largest_; }
  double smallest() const { return smallest_; }  // above zero
  // Magnitudes above it are taken for an overflow: other inputs may be larger than those seen.
  double limit() const { return largest_ / kMargin; }

  RoundingTo rounding() const;

  // To the nearest number of the type; beyond the range: Inf.
  double round(double x) const {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<std::int64_t>(bits >> kDigits & 0x7ff);
    // Adding a number this large leaves no digits below the type's last one.
    const std::int64_t place = std::max(exponent, least_) + shift_;
    const double large = std::bit_cast<double>(static_cast<std::uint64_t>(place) << kDigits |
                                               std::uint64_t{1} << (kDigits - 1));
    const double rounded = exponent == 0x7ff ? x : (x + large) - large;
    return std::copysign(std::abs(rounded) > largest_ ? kInf : rounded, x);
  }
  // The same with what is above a limit as Inf.
  double read(double x, double above) const {
    return std::abs(x) > above ? std::copysign(kInf, x) : round(x);
  }

 private:
  static constexpr double kMargin = 2;
  static constexpr int kDigits = 52;
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  DType dtype_;
  std::int64_t least_ = 0;  // exponent of the least normal number, as a double has it
  std::int64_t shift_ = 0;
  double unit_roundoff_ = 0;
  double largest_ = 0;
  double smallest_ = 0;
};

}  // namespace btf
