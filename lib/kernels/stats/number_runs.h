// Sums over runs of numbers. Every CPU computes the same.
#pragma once

#include <cstdint>

namespace btf {

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
