// Exact sums: a fixed-point number that is wide enough for sums of the values of any dtype and of
// their products. The order of additions makes no difference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "btf/cast.h"
#include "kernels/number/number.h"

namespace btf {

class ExactSum {
 public:
  __extension__ using Wide = unsigned __int128;

  // Adds +-magnitude * 2^exponent, which may be the product of two Numbers.
  void add(Wide magnitude, int exponent, bool negative);
  // The number must be finite or zero; the sign of a zero is ignored.
  void add(const Number& x) { add(x.significand, x.exponent - 63, x.negative); }
  void add_product(const Number& a, const Number& b, std::uint64_t times = 1);
  void add(const ExactSum& other);
  void subtract(const Number& x) { add(x.significand, x.exponent - 63, !x.negative); }

  bool negative() const { return (words_.back() & number::kTopBit) != 0; }

  // The upper 64 bits, with the lowest one set if digits were lost: rounding this to 62 bits or
  // fewer gives the same as rounding the sum.
  Number number() const;

  // The sum as an integer; `low` is its magnitude modulo 2^64.
  struct Whole {
    std::uint64_t low = 0;
    bool beyond = false;  // 2^64 or more
    bool inexact = false;
  };
  Whole whole(Rounding rounding) const;

 private:
  // From 2^-2432 to 2^2432: enough for 2^64 squares of Numbers with exponents of +-1150, which no
  // value of a dtype and no product of a code and its scale exceeds.
  static constexpr int kLowest = -2432;
  using Words = std::array<std::uint64_t, 76>;
  static constexpr std::size_t kUnit = -kLowest / 64;  // the word that begins at 2^0

  Words magnitude() const;

  Words words_{};  // lowest first, in two's complement
};

}  // namespace btf
