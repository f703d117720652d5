// Casts with a scale in vectors, and one for each element if so wanted. Same results as those of
// scaled_cast.h, which takes what vectors cannot do exactly.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cast/to_floats.h"
#include "kernels/narrow/narrow_runs.h"
#include "kernels/number/widen.h"
#include "kernels/scale/scaled_cast.h"
#include "kernels/scale/scaled_floats.h"

namespace btf {

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
