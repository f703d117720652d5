// Sums and counts over runs of numbers. The results are the same on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"
#include "kernels/number/exact_sum.h"
#include "kernels/number/number.h"
#include "kernels/number/steps.h"

namespace btf {

// The index of the first number that is larger than `limit`, or NaN; `count` if there is none.
std::uint64_t above_run(const float* values, std::uint64_t count, float limit);
std::uint64_t above_run(const double* values, std::uint64_t count, double limit);

// Finite numbers agree if they are equal, within one of the tolerances, or 0 steps apart.
struct AgreeLimits {
  struct Tolerance {
    double rtol = 0;  // both must be finite
    double atol = 0;
  };
  Tolerance one{};
  Tolerance other{};
  StepGrid grid;  // integers must also be less than 1 apart
};

// A bit for each pair, beginning with the lowest bit of the first word.
struct AgreeBits {
  std::uint64_t* yes = nullptr;
  std::uint64_t* ask = nullptr;  // undecided: NaN, Inf, or beyond the range of a double
};

// Uses the level in use (kernels/cpu/cpu_level.h).
void agree_run(const double* actual, const double* golden, std::uint64_t count,
               const AgreeLimits& limits, const AgreeBits& bits);

// Numbers that were predicted from others, and the actual ones.
struct PredictedRun {
  const double* from = nullptr;
  const double* predicted = nullptr;
  const double* seen = nullptr;
  std::uint64_t count = 0;
};

// Sets the bits of the numbers that are finite and differ from the prediction by at most this share
// of it.
void predicted_run(const PredictedRun& run, double share, std::uint64_t* yes);

// The signal-to-noise ratio of a cast: 10 log10(sum x^2 / sum (y - x)^2) dB for numbers x that
// became y. Both sums are exact, so neither threads nor the order of elements change the result.
class Noise {
 public:
  // Ignores NaN that stays NaN and Inf that stays Inf; any other pair that is not finite on both
  // sides is an unbounded error.
  void add(const Number& x, const Number& y, std::uint64_t times = 1);
  void add(const Noise& other);

  // Inf if nothing changed; -Inf if an error is unbounded or only zeros changed.
  double decibels() const;

 private:
  ExactSum signal_;
  ExactSum error_;
  bool unbounded_ = false;
};

// n elements on both sides, with strides in elements of buffer_bytes().
struct NoiseRun {
  const std::byte* source = nullptr;
  const std::byte* target = nullptr;
  std::uint64_t n = 0;
  std::uint64_t source_stride = 1;
  std::uint64_t target_stride = 1;
};

void measure_noise(DType from, DType to, const NoiseRun& run, Noise& noise);

// For codes of 1, 2, 4 or 8 bytes: sets bit i % 64 of word i / 64 if code i is not zero. The bits
// after the last code are 0. Returns the number of bits that are set.
std::uint64_t nonzero_bits(const std::byte* codes, std::uint64_t code_bytes, std::uint64_t count,
                           std::uint64_t* bits);

// A narrow floating-point type, as constants for rounding to it.
struct RoundingTo {
  double least = 0;   // the type's smallest normal number, a power of 2
  double factor = 0;  // 1.5 * 2^d if the significand has d bits fewer than that of a double
  double limit = 0;   // of magnitudes
};

struct RoundingSums {
  // All magnitudes are within the limit and none is NaN; otherwise the other members are undefined.
  bool within = true;
  double largest = 0;        // magnitude
  double smallest = 0;       // above zero; Inf if all are zero
  double squares = 0;        // sum of squares
  double error_squares = 0;  // sum of (rounded - number)^2
  std::uint64_t lost = 0;    // numbers that are not zero and are rounded to zero
};

// Rounds to nearest, ties to even.
RoundingSums rounding_sums(const RoundingTo& to, const double* numbers, std::size_t count);

// Zeros of both signs count as the same number.
struct NumberSums {
  double sum = 0;
  double rest = 0;  // nearly all of the rounding error of `sum`
  double least = 0;
  double most = 0;
  std::uint64_t small = 0;  // |x| < limit
};

struct Squares {
  double sum = 0;
  double rest = 0;
};

// Integers of 64 bits in the order of unsigned ones: the sign bit of signed ones is inverted.
struct IntegerSums {
  std::uint64_t high = 0;  // sum of the upper 32 bits of each
  std::uint64_t low = 0;   // sum of the lower 32 bits of each
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t zeros = 0;  // equal to `turn`
};

struct NumberRuns {
  // Needs at least one number. If one is not finite, or the sum overflows, `sum` is not finite and
  // the other members are undefined.
  NumberSums (*sums)(const double* values, std::uint64_t count, double limit);
  std::uint64_t (*zeros)(const double* values, std::uint64_t count);
  // The squares of the differences to `centre`.
  Squares (*squares)(const double* values, std::uint64_t count, double centre);

  // At least one and fewer than 2^32 integers; `turn` is the sign bit of signed ones, otherwise 0.
  IntegerSums (*integer_sums)(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn);
  Squares (*integer_squares)(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn,
                             std::uint64_t centre);
};

// The functions of the level in use (kernels/cpu/cpu_level.h).
const NumberRuns& number_runs();

}  // namespace btf
