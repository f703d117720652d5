// The error of a layer that its inputs and its dtype explain.
#pragma once

#include <span>
#include <string_view>

#include "btf/layers/layers.h"
#include "diff/layers/verdict/inputs.h"
#include "diff/layers/verdict/neighbours.h"
#include "diff/layers/verdict/noise.h"

namespace btf {

// From this value on a layer is broken; below, down to the limit, suspect.
inline constexpr double kSurely = 8;
// A scale or an offset is detected from this value on.
inline constexpr double kLeastAlong = 0.5;  // error to noise
// With fewer numbers the figures are chance.
inline constexpr std::uint64_t kFewNumbers = 64;

// error / noise
double times_noise(double error, double noise);

// Does the error go along with the signal, or is it the same everywhere?
LayerFault along_of(const LayerFigures& figures, const Inputs& in);

// Is it plainly off, and not judged as the order has no place for it?
bool is_off_unplaced(const Layer& layer);

// By the graph's operator; else by what the name says.
bool is_op(const Layer& layer, std::span<const std::string_view> ops,
           std::span<const std::string_view> words);

double floor_of(const Layer& layer);

class Explained {
 public:
  // All of them outlive it.
  Explained(const JudgeLayers& options, const RunPrecision& precision, const Neighbours& neighbours)
      : options_(options), precision_(precision), neighbours_(neighbours) {}

  double noise(const Layer& layer, const Inputs& in) const;
  double slice_noise(const Layer& layer, const Inputs& in) const;
  // How much worse the worst slice may be.
  double slice_limit(const Layer& layer) const;

 private:
  bool adds(const Layer& layer, const Inputs& in) const;
  double u_of(const Layer& layer, const Inputs& in) const;

  const JudgeLayers& options_;
  const RunPrecision& precision_;
  const Neighbours& neighbours_;
};

}  // namespace btf
