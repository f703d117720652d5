// Casts with a scale in vectors, and one for each element if so wanted. Same results as those of
// scaled_cast.h, which takes what vectors cannot do exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/narrow/narrow_runs.h"
#include "kernels/number/widen.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

enum class ScaleDirection : std::uint8_t { quantize, dequantize };

// n elements that stand side by side on both sides.
struct ScaledRun {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t n = 0;
};

class ScaledRuns {
 public:
  // Writes the scales and zero points of `count` elements from element `at` of the run on.
  using Fill =
      std::function<void(std::uint64_t at, std::size_t count, double* scales, double* zero_points)>;

  // The cast's own zero point is of no meaning here.
  ScaledRuns(const ScaledCast& cast, ScaleDirection direction);

  // Can vectors take the scale, with the zero point?
  bool takes(double scale, std::int64_t zero_point) const;

  // One scale for all.
  void run(double scale, std::int64_t zero_point, const ScaledRun& run, LossAccount& account) const;
  // One for each, all of which takes() has said yes to, or that are 0.
  void run_each(const Fill& fill, const ScaledRun& run, LossAccount& account) const;

 private:
  struct Scales {
    double* scales;
    double* zero_points;
    bool each;
    bool exact = false;           // products of codes and scales are doubles
    std::int64_t zero_point = 0;  // of all, which a double may not hold
  };
  void chunk(const Scales& scales, const ScaledRun& run, LossAccount& account) const;
  void by_reference(const Scales& scales, const ScaledRun& run, LossAccount& account) const;
  ScaledRun part(const ScaledRun& run, std::uint64_t at) const;
  NumberSource operation() const;
  int code_bits(std::int64_t zero_point) const;

  ScaledCast cast_;
  ScaleDirection direction_;
  Narrowing to_;
  std::size_t source_bytes_;
  std::size_t target_bytes_;
  WidenFn<double> widen_ = nullptr;
  bool can_ = false;
};

}  // namespace btf
