// Casts with a scale in vectors of floats, of numbers that floats hold: quotients to targets of 8
// bits or fewer, products to float32. A scale is a sum of two floats there. Where that leaves a
// code in doubt, nothing is said, and scaled_runs.h takes the chunk in doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "btf/cast.h"
#include "kernels/narrow/narrowing.h"

namespace btf {

// A scale in floats for vectors: high is the nearest float, high + low the scale to 48 digits, and
// inverse the nearest float to 1 / high; all of them 0 if the scale is.
struct FloatScale {
  float high = 0;
  float low = 0;
  float inverse = 0;
};

FloatScale float_scale(double scale);

// The same of many, each in an array of its own.
struct FloatScales {
  std::vector<float> high;
  std::vector<float> low;
  std::vector<float> inverse;

  void add(const FloatScale& scale);
};

// Elements by which the scales of a chunk may be read beyond its last.
inline constexpr std::size_t kFloatRoom = 64;

struct FloatChunk {
  const float* numbers = nullptr;
  std::size_t count = 0;
  // One scale for all, or one for each: those have no more than 48 digits, and stand in arrays with
  // room, where they are 1.
  const float* high = nullptr;
  const float* low = nullptr;
  const float* inverse = nullptr;
  bool each = false;
  bool floats = false;  // every low is 0
  bool powers = false;  // every scale is a power of two
  double scale = 0;     // of all
  float zero_point = 0;
  // The largest error relative to its number: for a quotient, as 0 would be nearer.
  double worst = 1;
};

// Is it a normal float, with normal quotients and products; or zero, for a quotient?
bool fits_floats(double scale);

// Has the instruction set in use what it takes?
bool has_float_lanes();

// Targets of quotients: all of up to 8 bits that clamp and round to nearest.
bool floats_narrow_to(const Narrowing& to);

// False if a code is in doubt: then the account is as before.
bool float_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                     LossAccount& account);

// (numbers - zero_point) * scale; numbers and scales together have no more than 48 digits. False if
// a result is not finite.
bool float_products(const FloatChunk& chunk, float* results, LossAccount& account);

}  // namespace btf
