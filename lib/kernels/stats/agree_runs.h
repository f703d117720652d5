// Which pairs of a run are the same number to those who accept an error, or round. Every CPU
// computes the same.
#pragma once

#include <cstdint>

#include "kernels/number/steps.h"

namespace btf {

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

}  // namespace btf
