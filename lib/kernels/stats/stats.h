// Sums and counts over runs of numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/dtype.h"
#include "kernels/number/exact_sum.h"
#include "kernels/number/number.h"
#include "kernels/number/steps.h"

namespace btf {

// Where a run has numbers above a limit.

// The first that is larger than `limit`, or NaN; `count` if there is none.
std::uint64_t above_run(const float* values, std::uint64_t count, float limit);
std::uint64_t above_run(const double* values, std::uint64_t count, double limit);

// Which pairs of a run are the same number to those who accept an error, or round. Every CPU
// computes the same.

// Pairs of finite numbers agree that are equal, or within a tolerance, or 0 steps apart.
struct AgreeLimits {
  struct Tolerance {
    double rtol = 0;  // both finite
    double atol = 0;
  };
  Tolerance one{};
  Tolerance other{};
  StepGrid grid;  // of integers: less than 1 apart, too
};

// A bit for each pair, from the lowest of the first word on; there is a word for each begun 64.
struct AgreeBits {
  std::uint64_t* yes = nullptr;
  std::uint64_t* ask = nullptr;  // it takes more than this to tell: NaN, Inf, beyond double
};

// At the level in use (kernels/cpu/cpu_level.h).
void agree_run(const double* actual, const double* golden, std::uint64_t count,
               const AgreeLimits& limits, const AgreeBits& bits);

// Numbers that a law makes of others, and what is there in their place.
struct PredictedRun {
  const double* from = nullptr;
  const double* predicted = nullptr;
  const double* seen = nullptr;
  std::uint64_t count = 0;
};

// Which are all finite, and what is seen within a share of what was predicted.
void predicted_run(const PredictedRun& run, double share, std::uint64_t* yes);

// The signal-to-noise ratio of what is written: 10 log10(sum x^2 / sum (y - x)^2) dB for numbers x
// that became y.

// Both sums are exact, so that neither threads nor the order of elements change the result.
class Noise {
 public:
  // NaN that stays NaN, and Inf that stays Inf, count for nothing; any other pair that is not
  // finite on both sides is an error without bound.
  void add(const Number& x, const Number& y, std::uint64_t times = 1);
  void add(const Noise& other);

  // Inf where nothing changed; -Inf where an error has no bound, or nothing but zeros changed.
  double decibels() const;

 private:
  ExactSum signal_;
  ExactSum error_;
  bool unbounded_ = false;
};

// n elements on both sides; strides in elements of buffer_bytes().
struct NoiseRun {
  const std::byte* source = nullptr;
  const std::byte* target = nullptr;
  std::uint64_t n = 0;
  std::uint64_t source_stride = 1;
  std::uint64_t target_stride = 1;
};

void measure_noise(DType from, DType to, const NoiseRun& run, Noise& noise);

// Which codes of a run are not zero.

// Codes of 1, 2, 4 or 8 bytes. Bit i % 64 of word i / 64 is set where code i has a bit set; the
// bits behind the last code are 0. Returns how many are set.
std::uint64_t nonzero_bits(const std::byte* codes, std::uint64_t code_bytes, std::uint64_t count,
                           std::uint64_t* bits);

// A run of numbers, and what rounding them to a narrow floating type does: without the numbers.

struct RoundingTo {
  double least = 0;   // the type's smallest normal number, a power of 2
  double factor = 0;  // 1.5 * 2^d, for d bits fewer of the significand than a double has
  double limit = 0;   // of magnitudes
};

struct RoundingSums {
  bool within = true;  // no magnitude is above the limit, and none is no number: else nothing holds
  double largest = 0;  // magnitudes
  double smallest = 0;       // above zero; Inf: all are zero
  double squares = 0;        // their sum
  double error_squares = 0;  // of (rounded - number)
  std::uint64_t lost = 0;    // not zero, and rounded to zero
};

// To nearest, ties to even. Every CPU computes the same.
RoundingSums rounding_sums(const RoundingTo& to, const double* numbers, std::size_t count);

// Sums over runs of numbers. Every CPU computes the same.

// Zeros of either sign are one number.
struct NumberSums {
  double sum = 0;
  double rest = 0;  // what rounding took from `sum`, nearly all of it
  double least = 0;
  double most = 0;
  std::uint64_t small = 0;  // |x| < limit
};

struct Squares {
  double sum = 0;
  double rest = 0;
};

// Integers of 64 bits in the order of unsigned ones: the sign bit of signed ones is turned.
struct IntegerSums {
  std::uint64_t high = 0;  // of the upper 32 bits of each
  std::uint64_t low = 0;   // and of the lower
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t zeros = 0;  // equal to `turn`
};

struct NumberRuns {
  // At least one number. Where one is not finite, or too much to add, `sum` is not finite either,
  // and only that can be relied on.
  NumberSums (*sums)(const double* values, std::uint64_t count, double limit);
  std::uint64_t (*zeros)(const double* values, std::uint64_t count);
  // The squares of the differences to `centre`.
  Squares (*squares)(const double* values, std::uint64_t count, double centre);

  // At least one and less than 2^32 of them; `turn` is the sign bit or nothing.
  IntegerSums (*integer_sums)(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn);
  Squares (*integer_squares)(const std::uint64_t* values, std::uint64_t count, std::uint64_t turn,
                             std::uint64_t centre);
};

// Those of the level in use (kernels/cpu/cpu_level.h).
const NumberRuns& number_runs();

}  // namespace btf
