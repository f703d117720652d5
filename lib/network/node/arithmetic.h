// A right device's arithmetic on a number, and how far that may take it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace btf::network {

// The value that an element should have, and the distance from it that rounding explains.
struct Estimate {
  double value = 0;
  double error = 0;
};

// Half steps, relative to the number that is rounded: 2^-24 of float32.
struct Arithmetic {
  double operand = 0x1p-24;      // of what is multiplied: stored numbers, weights
  double result = 0x1p-24;       // of each result
  double accumulator = 0x1p-24;  // of the sums of products
  // Half a step of 8-bit codes, relative to the largest magnitude of a tensor; 0: there are none.
  double grid = 0;

  bool operator==(const Arithmetic&) const = default;
};

// Half steps of the formats that sums and functions are computed in, whatever is stored.
inline constexpr double kFloat32 = 0x1p-24;

inline Estimate rounded(Estimate x, const Arithmetic& arithmetic) {
  x.error += arithmetic.result * std::abs(x.value);
  return x;
}

// A sum of terms as a device adds them up, in any order.
class Sum {
 public:
  // `own`: what rounding of its own makes of the term, independent of that of other terms; `error`:
  // what has come from before.
  void add(double term, double own, double error) { add_square(term, own * own, error); }
  // The same with the square of what is the term's own.
  void add_square(double term, double own_square, double error) {
    value_ += term;
    largest_ = std::max(largest_, std::abs(value_));
    magnitude_ += std::abs(term);
    squares_ += term * term;
    own_squares_ += own_square;
    error_ += error;
    ++terms_;
  }

  // Roundings that are independent add up as the root of the sum of their squares; each is at most
  // a half step, so that four times that is beyond chance. Partial sums are rounded as often as
  // there are terms, and where terms are few different numbers not to both sides. They are about as
  // large in any order.
  Estimate result(double accumulator) const {
    constexpr double kBeyondChance = 4;
    const auto n = static_cast<double>(terms_);
    const double partial =
        std::min(magnitude_, std::max(2 * largest_, kBeyondChance * std::sqrt(squares_)));
    return {value_, error_ + kBeyondChance * std::sqrt(own_squares_) +
                        accumulator * partial * std::min(n, kBeyondChance * (1 + std::sqrt(n)))};
  }

 private:
  double value_ = 0;
  double largest_ = 0;  // of partial sums
  double magnitude_ = 0;
  double squares_ = 0;
  double own_squares_ = 0;
  double error_ = 0;
  std::uint64_t terms_ = 0;
};

}  // namespace btf::network
