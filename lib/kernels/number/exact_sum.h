// Sums without rounding: a number in fixed point that is wide enough for sums of the values of any
// dtype, and of their products. The order of additions makes no difference.
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
  // Finite or zero; the sign of a zero has no meaning here.
  void add(const Number& x) { add(x.significand, x.exponent - 63, x.negative); }
  void add_product(const Number& a, const Number& b, std::uint64_t times = 1);
  void add(const ExactSum& other);
  void subtract(const Number& x) { add(x.significand, x.exponent - 63, !x.negative); }

  bool negative() const { return (words_.back() & number::kTopBit) != 0; }

  // The upper 64 bits, with the lowest set where digits were lost: rounding that to 62 bits or
  // fewer gives what rounding the sum gives.
  Number number() const;

  // The sum as an integer; `low` is its magnitude modulo 2^64.
  struct Whole {
    std::uint64_t low = 0;
    bool beyond = false;  // 2^64 or more
    bool inexact = false;
  };
  Whole whole(Rounding rounding) const;

 private:
  // From 2^-2432 to 2^2432: the squares of Numbers with exponents of +-1150, which no value of a
  // dtype and no product of a code and its scale exceeds, 2^64 times.
  static constexpr int kLowest = -2432;
  using Words = std::array<std::uint64_t, 76>;
  static constexpr std::size_t kUnit = -kLowest / 64;  // the word that begins at 2^0

  Words magnitude() const;

  Words words_{};  // lowest first, in two's complement
};

}  // namespace btf
