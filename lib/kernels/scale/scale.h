// Numbers to codes with a scale and back, over runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "btf/cast.h"
#include "kernels/cast/to_floats.h"
#include "kernels/narrow/narrowing.h"
#include "kernels/number/number.h"
#include "kernels/number/widen.h"

namespace btf {

// The largest magnitudes of runs of floats or doubles, and their ranges. Inf and NaN count for
// nothing.

// `largest` has what was found so far.
template <typename Real>
void keep_largest_magnitude(const Real* numbers, std::size_t count, Real& largest);

// The same for each position.
template <typename Real>
void keep_largest_magnitudes(const Real* numbers, std::size_t count, Real* largest);

// For each `block` elements, the last of which may be fewer.
template <typename Real>
void block_magnitudes(const Real* numbers, std::size_t count, std::size_t block, double* largest);

// Widens the range [least, largest], which holds 0.
template <typename Real>
void keep_range(const Real* numbers, std::size_t count, Real& least, Real& largest);

// The same for each position.
template <typename Real>
void keep_ranges(const Real* numbers, std::size_t count, Real* least, Real* largest);

// The errors of codes with a scale: without the codes.

// The errors of finite numbers; others count for nothing.
struct ScalingErrors {
  double squares = 0;         // the sum of (code * scale - number)^2
  std::uint64_t clipped = 0;  // beyond the last code
  std::uint64_t lost = 0;     // not zero, became zero

  void add(const ScalingErrors& other) {
    squares += other.squares;
    clipped += other.clipped;
    lost += other.lost;
  }
};

// Codes of 8 bits or fewer that are clamped and rounded to nearest, and scales above zero that are
// floats: then quotients of floats are rounded as exact ones would be. Every CPU computes the same.
ScalingErrors scaling_errors(const Narrowing& to, const double* numbers, std::size_t count,
                             double scale);

// The same with a scale for each number.
ScalingErrors scaling_errors_each(const Narrowing& to, const double* numbers, std::size_t count,
                                  const double* scales);

// The Narrowing of such codes.
Narrowing scaled_codes(DType to);

// Casts with a scale, exact but for the one rounding of the result.

namespace number {

// a / b and a * b, with the lowest bit of the significand set when digits were lost: rounding that
// to 62 bits or fewer gives what rounding the exact result gives. `b` is not infinite; NaN is
// passed on, and a quotient by zero is zero.
Number quotient(const Number& a, const Number& b);
Number product(const Number& a, const Number& b);

Number from_double(double value);

// Beyond 64 bits: Inf.
__extension__ using Integer = __int128;
Number from_integer(Integer value);

}  // namespace number

struct ScaledCast {
  DType from{};
  DType to{};
  CastPolicy policy;
  std::int64_t zero_point = 0;
};

// round(x / scale) + zero_point, before it is clamped: an integer, or Inf beyond 64 bits.
Number shifted_code(const Number& x, const Number& scale, const ScaledCast& cast);

// (code - zero_point) * scale.
Number scaled_up(const Number& code, const Number& scale, std::int64_t zero_point);

// n elements that stand side by side on both sides, all with one scale. A scale of 0 stands for a
// block of zeros: the codes are those of 0.
void quantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                  std::byte* target, std::uint64_t n, LossAccount& account);
void dequantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                    std::byte* target, std::uint64_t n, LossAccount& account);

// Casts with a scale in vectors of floats, of numbers that floats hold: quotients to targets of 8
// bits or fewer, products to float32. A scale is a sum of two floats there. Where that leaves a
// code in doubt, nothing is said, and the loops of scaled_runs.cc take the chunk in doubles.

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

// Casts with a scale in vectors, and one for each element if so wanted. Same results as those of
// scaled_cast(), which takes what vectors cannot do exactly.

enum class ScaleDirection : std::uint8_t { quantize, dequantize };

// n elements that stand side by side on both sides.
struct ScaledRun {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n = 0;
};

// A chunk's scales as sums of floats.
struct FloatArrays {
  using Lanes = std::array<float, kNarrowChunk + kFloatRoom>;
  alignas(64) Lanes high;
  alignas(64) Lanes low;
  alignas(64) Lanes inverse;
};

// How scales may be taken.
struct ScaleUse {
  bool vectors = false;  // all of them
  // In vectors of floats, with one zero point for all.
  bool floats = false;
  bool each_is_float = false;
  bool powers = false;  // of two
  double worst = 1;     // no relative error in floats is larger

  // The use of these scales and others.
  ScaleUse with(const ScaleUse& other) const {
    return {vectors && other.vectors, floats && other.floats, each_is_float && other.each_is_float,
            powers && other.powers, std::max(worst, other.worst)};
  }
};

// The scale and zero point of each element of a run.
class EachScale {
 public:
  virtual ~EachScale() = default;

  // The combined ScaledRuns::use() of all of them.
  virtual ScaleUse use() const = 0;

  // The scales of `count` elements from element `at` on.
  virtual void doubles(std::uint64_t at, std::size_t count, double* scales,
                       double* zero_points) const = 0;
  // Asked for only if use() has floats.
  virtual void floats(std::uint64_t at, std::size_t count, FloatArrays& scales) const = 0;
};

class ScaledRuns {
 public:
  // The cast's zero point is that of all elements where floats have a scale for each.
  ScaledRuns(const ScaledCast& cast, ScaleDirection direction);

  // Can vectors take the scale, with the zero point?
  bool takes(double scale, std::int64_t zero_point) const;
  // The use of one of run_each()'s scales.
  ScaleUse use(double scale, std::int64_t zero_point) const;
  // The same, and how wrong products can be: a look at all codes, for sources of 8 bits or fewer.
  ScaleUse close_use(double scale, std::int64_t zero_point) const;

  // One scale for all.
  void run(double scale, std::int64_t zero_point, const ScaledRun& run, LossAccount& account) const;
  // One for each, all of which vectors take.
  void run_each(const EachScale& scales, const ScaledRun& run, LossAccount& account) const;

 private:
  struct Scales {
    double* scales;
    double* zero_points;
    bool each;
    bool exact = false;           // products of codes and scales are doubles
    std::int64_t zero_point = 0;  // of all, which a double may not hold
  };
  void chunk(const Scales& scales, const ScaledRun& run, LossAccount& account) const;
  bool chunk_in_floats(FloatChunk chunk, const ScaledRun& run, LossAccount& account) const;
  void by_reference(const Scales& scales, const ScaledRun& run, LossAccount& account) const;
  ScaledRun part(const ScaledRun& run, std::uint64_t at) const;
  NumberSource operation() const;
  int code_bits(std::int64_t zero_point) const;
  ScaleUse use_one(double scale, std::int64_t zero_point, int most_digits) const;
  double worst_product(const FloatScale& scale, float zero_point) const;

  ScaledCast cast_;
  ScaleDirection direction_;
  Narrowing to_;
  std::size_t source_bytes_;
  std::size_t target_bytes_;
  WidenFn<double> widen_ = nullptr;
  ToFloats to_floats_;
  bool can_ = false;
  bool floats_ = false;
};

}  // namespace btf
