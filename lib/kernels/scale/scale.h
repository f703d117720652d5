// Quantizes and dequantizes runs of numbers; magnitudes and errors for finding scales.
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

// The largest magnitudes and the ranges of runs of floats or doubles. Inf and NaN are ignored.

// Raises `largest` to the largest magnitude.
template <typename Real>
void keep_largest_magnitude(const Real* numbers, std::size_t count, Real& largest);

// The same element by element.
template <typename Real>
void keep_largest_magnitudes(const Real* numbers, std::size_t count, Real* largest);

// The largest magnitude of each block of `block` elements; the last block may have fewer.
template <typename Real>
void block_magnitudes(const Real* numbers, std::size_t count, std::size_t block, double* largest);

// Widens the range [least, largest], which must contain 0.
template <typename Real>
void keep_range(const Real* numbers, std::size_t count, Real& least, Real& largest);

// The same element by element.
template <typename Real>
void keep_ranges(const Real* numbers, std::size_t count, Real* least, Real* largest);

// The errors of finite numbers if they are quantized; others are ignored.
struct ScalingErrors {
  double squares = 0;         // the sum of (code * scale - number)^2
  std::uint64_t clipped = 0;  // numbers beyond the last code
  std::uint64_t lost = 0;     // numbers that are not zero and become zero

  void add(const ScalingErrors& other) {
    squares += other.squares;
    clipped += other.clipped;
    lost += other.lost;
  }
};

// For codes of 8 bits or fewer that are clamped and rounded to nearest, and positive scales that
// are floats: then quotients of floats are rounded as exact ones would be. The results are the same
// on every CPU.
ScalingErrors scaling_errors(const Narrowing& to, const double* numbers, std::size_t count,
                             double scale);

// The same with a scale for each number.
ScalingErrors scaling_errors_each(const Narrowing& to, const double* numbers, std::size_t count,
                                  const double* scales);

// The Narrowing of such codes.
Narrowing scaled_codes(DType to);

namespace number {

// a / b and a * b, with the lowest bit of the significand set if digits were lost: rounding these
// to 62 bits or fewer gives the same as rounding the exact result. `b` must not be infinite; NaN
// stays NaN, and a quotient by zero is zero.
Number quotient(const Number& a, const Number& b);
Number product(const Number& a, const Number& b);

Number from_double(double value);

// Inf beyond 64 bits.
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

// Cast n contiguous elements with one scale, exactly except for one rounding of each result. A
// scale of 0 means a block of zeros: the codes are those of 0.
void quantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                  std::byte* target, std::uint64_t n, LossAccount& account);
void dequantize_run(const ScaledCast& cast, const Number& scale, const std::byte* source,
                    std::byte* target, std::uint64_t n, LossAccount& account);

// Casts with a scale in vectors of floats, for numbers that are floats: quotients to targets of 8
// bits or fewer, and products to float32. If a code is uncertain, the functions fail, and the loops
// of scaled_runs.cc process the chunk in doubles.

// A scale in floats: high is the nearest float, high + low the scale to 48 digits, and inverse the
// float nearest to 1 / high; all are 0 if the scale is.
struct FloatScale {
  float high = 0;
  float low = 0;
  float inverse = 0;
};

FloatScale float_scale(double scale);

// Many scales, as arrays of their parts.
struct FloatScales {
  std::vector<float> high;
  std::vector<float> low;
  std::vector<float> inverse;

  void add(const FloatScale& scale);
};

// The number of elements by which reads of a chunk's scales may exceed its end.
inline constexpr std::size_t kFloatRoom = 64;

struct FloatChunk {
  const float* numbers = nullptr;
  std::size_t count = 0;
  // One scale for all, or one for each element. The latter must have at most 48 digits, and
  // kFloatRoom elements of value 1 must follow them.
  const float* high = nullptr;
  const float* low = nullptr;
  const float* inverse = nullptr;
  bool each = false;
  bool floats = false;  // every low is 0
  bool powers = false;  // every scale is a power of two
  double scale = 0;     // if it is the same for all
  float zero_point = 0;
  // A bound of the relative error; 1 for a quotient, since 0 would otherwise be nearer.
  double worst = 1;
};

// Returns true for a normal float whose quotients and products are normal, and for 0, which
// quotients accept.
bool fits_floats(double scale);

// Returns true if the instruction set in use is supported.
bool has_float_lanes();

// Returns true for the targets of quotients: those of at most 8 bits that clamp and round to
// nearest.
bool floats_narrow_to(const Narrowing& to);

// Returns false, with the account unchanged, if a code is uncertain.
bool float_quotients(const Narrowing& to, const FloatChunk& chunk, std::byte* codes,
                     LossAccount& account);

// (numbers - zero_point) * scale; a number and its scale together must have at most 48 digits.
// Returns false if a result is not finite.
bool float_products(const FloatChunk& chunk, float* results, LossAccount& account);

enum class ScaleDirection : std::uint8_t { quantize, dequantize };

// n elements that are contiguous on both sides.
struct ScaledRun {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n = 0;
};

// The scales of a chunk as sums of floats.
struct FloatArrays {
  using Lanes = std::array<float, kNarrowChunk + kFloatRoom>;
  alignas(64) Lanes high;
  alignas(64) Lanes low;
  alignas(64) Lanes inverse;
};

// How scales can be applied.
struct ScaleUse {
  bool vectors = false;  // in vectors of doubles
  bool floats = false;   // in vectors of floats, with the same zero point for all
  bool each_is_float = false;
  bool powers = false;  // all are powers of two
  double worst = 1;     // a bound of the relative errors in floats

  // The use of these and other scales together.
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

  // Writes the scales of `count` elements from element `at` on.
  virtual void doubles(std::uint64_t at, std::size_t count, double* scales,
                       double* zero_points) const = 0;
  // Called only if use() has floats.
  virtual void floats(std::uint64_t at, std::size_t count, FloatArrays& scales) const = 0;
};

// Casts with scales in vectors, for all elements or for each. The results are the same as those of
// quantize_run() and dequantize_run(), which process what vectors cannot do exactly.
class ScaledRuns {
 public:
  // The zero point of `cast` is that of all elements if floats are used with a scale for each.
  ScaledRuns(const ScaledCast& cast, ScaleDirection direction);

  // Returns true if vectors can apply the scale and zero point.
  bool takes(double scale, std::int64_t zero_point) const;
  // The use of one of run_each()'s scales.
  ScaleUse use(double scale, std::int64_t zero_point) const;
  // The same with a closer bound of the errors of products, by trying all codes of sources of 8
  // bits or fewer.
  ScaleUse close_use(double scale, std::int64_t zero_point) const;

  // One scale for all.
  void run(double scale, std::int64_t zero_point, const ScaledRun& run, LossAccount& account) const;
  // One scale for each element; vectors must be able to apply all of them.
  void run_each(const EachScale& scales, const ScaledRun& run, LossAccount& account) const;

 private:
  struct Scales {
    double* scales;
    double* zero_points;
    bool each;
    bool exact = false;           // products of codes and scales are doubles
    std::int64_t zero_point = 0;  // of all elements; it need not be an exact double
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
