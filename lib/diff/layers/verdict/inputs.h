// The inputs of a layer and their errors.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

// The size of two independent errors together. std::hypot has other last digits on other machines.
inline double joined(double one, double other) { return std::sqrt(one * one + other * other); }

inline constexpr std::uint64_t kNoLeftOut = UINT64_MAX;

// Errors and properties of the inputs of a layer.
struct Inputs {
  double relative_error = 0;
  double slice_error = 0;
  double gain_share = 0;
  double offset_share = 0;
  bool special = false;      // NaN or Inf that golden has not
  bool exact = true;         // equal to the bit, all of them
  double adding = 0;         // the norms of what an addition carries over: errors
  double adding_slices = 0;  // and the worst slices
  bool direct = true;        // nothing lies between
  // The error after a normalisation: relative to the signal without its mean.
  double spread_error = 0;
  double unit_roundoff = 0;  // of their dtype, of the nearest
  double rms_error = 0;      // as it is, for an exponential
  double peak = 0;           // golden's largest magnitude

  // `add`: errors of several inputs add up; else the largest stands for all.
  void take(const Layer& layer, bool add);
};

// Inputs that are so far off explain anything.
inline constexpr double kTooFar = 0.5;

// By order alone: `before` covers all layers before i, of which the last ones show scales.
Inputs order_inputs(const std::vector<Layer>& all, std::uint64_t i, const Inputs& before);

// By the graph. What is not to be used, a wrong dump above all and the layer `without`, is replaced
// by its own inputs.
Inputs graph_inputs(const std::vector<Layer>& all, std::uint64_t i,
                    std::uint64_t without = kNoLeftOut);

}  // namespace btf
