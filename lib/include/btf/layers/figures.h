// The result of one pass over a pair of layers. It depends on that pair alone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "btf/diff/tensor_diff.h"

namespace btf {

// With this many elements, few different values are not a coincidence.
inline constexpr std::uint64_t kManyElements = 2048;

// Figures of one side, over the pairs of finite numbers.
struct LayerSide {
  double norm = 0;  // the root of the sum of squares
  double sum = 0;
  double peak = 0;  // the largest magnitude
  std::uint32_t bits =
      0;  // of a significand, that are used: 11 in float16, or float32 that was one
  // The rms distance between neighbours if there are 17 to 256 different values, else 0. Fewer
  // numbers than kManyElements must be multiples of one, too.
  double step = 0;
  // The scale of integer codes that were measured by it, or the rms of several. Else 0.
  double scale = 0;
  // The numbers in the order of the walk: of different ones, it is hardly ever the same.
  std::uint64_t fingerprint = 0;
  std::array<double, 4> samples{};  // the first, at one and two thirds, the last
};

// Elements that follow one another in row-major order.
struct ElementRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Sums are over pairs of finite numbers; e is actual - golden.
struct LayerFigures {
  std::uint64_t elements = 0;
  std::uint64_t pairs = 0;  // of finite numbers
  std::uint64_t equal = 0;  // of these
  NanCount nan{};
  InfCount inf{};
  // Elements of actual at the largest number of its dtype, where golden is below it.
  std::uint64_t at_limit = 0;
  // Pairs that both sides mask: -9000 and below, or -Inf, where all others are small. They count
  // nowhere else.
  std::uint64_t masked = 0;
  LayerSide actual{};
  LayerSide golden{};
  double error = 0;      // the norm of e
  double max_error = 0;  // the largest |e|

  // error / golden.norm; Inf where golden is all zero and actual is not. JSON: e.
  double relative_error = 0;
  // Maximum of norm(e) / norm(golden) over slices of channels and parts of the tensor; the norm of
  // the mean slice replaces a smaller one. JSON: w.
  double slice_error = 0;
  // |sum(e * golden)| / (error * golden.norm): 1 where only a scale is off. JSON: rho.
  double gain_share = 0;
  // |mean(e)| / rms(e): 1 where only an offset is. JSON: mu.
  double offset_share = 0;
  double gain = 1;            // of the straight line that fits best: actual = gain * golden
  bool scale_fitted = false;  // actual are codes, golden is not: e is not explained by any scale
  std::vector<ElementRun> worst_runs{};  // a few that hold the largest |e|; not in reports

  std::uint64_t new_nan() const { return nan.actual; }
  std::uint64_t new_inf() const { return inf.actual + inf.opposite; }
  // NaN and Inf on one side only, of both sides.
  std::uint64_t one_sided() const { return new_nan() + new_inf() + nan.golden + inf.golden; }
};

}  // namespace btf
